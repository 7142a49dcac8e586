//! Gaps of a run, as text at the beginning of a report: unreached addresses, and too few valid
//! samples.

use std::fmt::Write as _;

use analysis::shortfall::{self, Shortfall};
use model::{
    net::Direction,
    run::{Figure, FigureKind, Run},
    safe::line,
};

use crate::{figures::row_name, plain};

/// Figures that are shown although they do not count.
const SHOWN: [FigureKind; 3] = [
    FigureKind::Goodput,
    FigureKind::Capacity,
    FigureKind::RttP50,
];

/// The text; empty if the run lacks nothing.
pub fn text(run: &Run) -> String {
    let mut out = reasons(run);
    if let Some(lacks) = shortfall::of(run) {
        not_counted(&mut out, &lacks);
    }
    out
}

/// The text without the figures that do not count.
pub(crate) fn reasons(run: &Run) -> String {
    let mut out = String::new();
    for missing in &run.unreached {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "NOT REACHED: the {} address {}: {}; nothing is known of the {}",
            missing.layer,
            missing.far,
            line(&missing.why.to_string()),
            missing.layer
        );
    }
    for caveat in &run.caveats {
        let _ = writeln!(out, "NOT MEASURED: {}", line(&caveat.to_string()));
    }
    if let Some(lacks) = shortfall::of(run) {
        few(&mut out, &lacks);
    }
    out
}

/// Why a run ended before its plan; empty if it did not.
pub(crate) fn cut_short(run: &Run) -> String {
    let Some(why) = &run.cut_short else {
        return String::new();
    };
    format!("CUT SHORT: {}\n", line(&why.to_string()))
}

/// A sentence on why a run is insufficient; `None` if it suffices.
pub fn sentence(run: &Run) -> Option<String> {
    if let Some(missing) = run.unreached.first() {
        return Some(format!(
            "the {} address {} was not reached",
            missing.layer, missing.far
        ));
    }
    shortfall::of(run).map(|lacks| {
        let [what, more] = clauses(&lacks);
        what + &more
    })
}

/// What a run lacks most, and the rest of it.
fn clauses(lacks: &Shortfall) -> [String; 2] {
    let Shortfall { valid, all, .. } = lacks;
    match (lacks.is_few(), without(lacks)) {
        (true, None) => [
            "too few samples count".to_owned(),
            format!(": {valid} of {all}"),
        ],
        (true, Some(without)) => [
            "too few samples count".to_owned(),
            format!(": {valid} of {all}; no TCP throughput counts: {without}"),
        ],
        (false, without) => [
            "no TCP throughput counts".to_owned(),
            format!(
                ": {} ({valid} of {all} samples count)",
                without.unwrap_or_default()
            ),
        ],
    }
}

fn few(out: &mut String, lacks: &Shortfall) {
    let [what, more] = clauses(lacks);
    let _ = writeln!(out, "{}{more}", what.to_uppercase());
    for (reason, count) in &lacks.reasons {
        let samples = if *count == 1 { "sample" } else { "samples" };
        let _ = writeln!(out, "  {count} {samples}: {}", line(&reason.to_string()));
    }
}

fn not_counted(out: &mut String, lacks: &Shortfall) {
    let shown = lacks.not_counted.iter();
    let rows: Vec<_> = shown
        .filter(|figure| SHOWN.contains(&figure.kind))
        .map(row)
        .collect();
    if !rows.is_empty() {
        let heading = ["measured, but not counted", "", "median", "n"];
        let _ = write!(out, "{}", plain::table(&heading, &[2, 3], rows));
    }
}

fn without(lacks: &Shortfall) -> Option<String> {
    let places: Vec<String> = lacks
        .without
        .iter()
        .map(|(layer, direction)| match direction {
            Direction::Down => format!("{layer} down"),
            Direction::Up => format!("{layer} up"),
        })
        .collect();
    (!places.is_empty()).then(|| places.join(", "))
}

fn row(figure: &Figure) -> Vec<String> {
    vec![
        format!("{} {}", figure.key.layer, row_name(&figure.key)),
        figure.kind.text().to_owned(),
        plain::figure(figure.kind, figure.spread.median),
        figure.spread.n.to_string(),
    ]
}
