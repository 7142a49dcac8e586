//! Lines of the log about measurements.

use model::{run::Run, text, text::Text};

use crate::watcher::{Postponed, Work};

/// A measurement is postponed.
pub(super) fn postponed(path: &str, work: Work, why: &Postponed) -> Text {
    text!(
        "{path}: {work} postponed: {why}",
        path = path,
        work = work.text(),
        why = why.text()
    )
}

/// Few samples of a run count, or no load of a direction does; `None` if enough do.
pub(super) fn uncounted(path: &str, run: &Run) -> Option<Text> {
    let short = analysis::shortfall::of(run)?;
    let (why, _) = short.reasons.first()?;
    Some(text!(
        "{path}: {valid} of {all} samples of it count: {why}",
        path = path,
        valid = short.valid,
        all = short.all,
        why = why.text()
    ))
}
