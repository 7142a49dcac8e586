//! `pathtwin advise`.

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use model::twin::TwinVerdict;
use report::documents::{Document, DocumentError};
use twin::{Budget, Fit, Objective, Trials, TwinError};

use super::twin::{open_lab, search};
use crate::{
    cli::{advise::Advise, twin::TwinForm},
    exit::{Failure, code},
    format, progress,
};

pub(crate) fn advise(arguments: &Advise) -> Result<ExitCode, Failure> {
    #[cfg(feature = "history")]
    if arguments.calibration {
        return calibration(arguments);
    }
    let name = arguments.document.as_deref().unwrap_or_default();
    let text = arguments.place.named(name)?;
    let program = env!("CARGO_PKG_VERSION");
    let document = Document::parse(&text).map_err(|e| wrong(name, Some(e)))?;
    let lab = || open_lab(!arguments.no_cache, arguments.jobs);
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let budget = arguments.budget_time.map_or(Budget::Usual, Budget::Of);
    let (twin, budget, before_s) = match document {
        Document::Twin(twin) => (*twin, budget, None),
        Document::Run(run) => {
            let fit = Fit::prepare(&run, budget.half(), program)?;
            let twin = search(&fit, &lab()?, stop)?;
            let left = budget.after(&twin);
            let before_s = twin::searched(&twin).as_secs();
            (twin, left, Some(before_s))
        }
        Document::Rows(_) | Document::Advice(_) => return Err(wrong(name, None)),
    };
    let objective = Objective {
        goal: arguments.goal.into(),
        keep: arguments.keep.clone(),
        budget,
    };
    let trials = Trials::prepare(&twin, objective, program).map_err(|error| match error {
        TwinError::NoBudget { needs_s } => TwinError::NoBudget {
            needs_s: with_search(needs_s, before_s),
        },
        other => other,
    })?;
    format::say(format_args!("{}", trials.forecast()));
    let lab = lab()?;
    let advice = progress::search(&lab, trials.runs(), stop, |bench| trials.search(bench))?;
    match arguments.output {
        TwinForm::Text => format::text(&match format::screen().filter(|_| !arguments.all) {
            Some(screen) => report::advice::within(&advice, screen),
            None => report::advice::text(&advice),
        })?,
        TwinForm::Json => format::json(&advice)?,
    }
    Ok(match advice.twin {
        TwinVerdict::DoesNotFit => ExitCode::from(code::VERDICT),
        _ => ExitCode::SUCCESS,
    })
}

/// The time, s, to give for trials that take `trials_s`, after a search of the twin that took
/// `search_s`: it may take half of what is given, and takes more if it gets more.
fn with_search(trials_s: u64, search_s: Option<u64>) -> u64 {
    trials_s + search_s.map_or(0, |search_s| search_s.max(trials_s))
}

/// A document on which no remedies can be tried.
fn wrong(name: &str, error: Option<DocumentError>) -> Failure {
    const NEITHER: &str =
        "neither a run of `measure --output json` nor a twin of `twin --output json`";
    let why = match error {
        None => anyhow!(NEITHER),
        Some(DocumentError::Format(error)) => anyhow!("{NEITHER}: {error}"),
        Some(error) => anyhow!(error),
    };
    Failure::new(code::USE, why.context(name.to_owned()))
}

/// Prints predictions and outcomes over all proofs of the history.
#[cfg(feature = "history")]
fn calibration(arguments: &Advise) -> Result<ExitCode, Failure> {
    let mut store = arguments.place.history.open()?;
    let filter = store::Filter {
        kind: Some(model::history::Kind::Change),
        ..store::Filter::default()
    };
    let mut proofs = Vec::new();
    for entry in store.list(&filter)? {
        let body = store.body(entry.kind, &entry.id)?;
        let done: Result<model::job::ProveOutput, _> = serde_json::from_slice(&body);
        proofs.extend(done.ok().and_then(|done| done.proof).map(|proof| *proof));
    }
    let found = tune::calibration(&proofs);
    format::text(&report::proof::calibration(&found))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: with the time that an error named, the search took more, and the next error named more.
    #[test]
    fn the_time_that_is_named_leaves_enough_beside_the_search() {
        assert_eq!(with_search(40, None), 40);
        let enough = with_search(40, Some(29));
        assert!(enough - enough / 2 >= 40, "{enough}");
        assert_eq!(with_search(40, Some(55)), 95);
    }
}
