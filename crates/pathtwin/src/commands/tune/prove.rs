//! `pathtwin tune apply --prove`: a change of this host, kept only if it helps.

#[cfg(feature = "history")]
use std::time::{SystemTime, UNIX_EPOCH};
use std::{sync::atomic::AtomicBool, time::Duration};

use ::measure::{far::FarError, run::usual_estimate};
#[cfg(feature = "history")]
use anyhow::Context;
#[cfg(feature = "history")]
use model::history::{HOST, Kind};
use model::{job::ProveOutput, plan::Plan, text::Text};
use tune::{Criteria, MeasureError, Sites};

#[cfg(feature = "history")]
use crate::cli::history::StoreArgs;
use crate::{
    commands::measure::{Progress, Reached},
    exit::{Failure, code},
    format,
};

/// Plan measured in each turn, and its path.
pub(crate) struct Proving<'a> {
    pub(crate) far: &'a Reached,
    pub(crate) plan: &'a Plan,
    pub(crate) criteria: Criteria,
    /// Maximum time for manual changes of the far host.
    pub(crate) person: Duration,
    pub(crate) stop: &'static AtomicBool,
}

impl Proving<'_> {
    /// Time that a change waits for all its turns.
    fn window(&self) -> Duration {
        let turn = usual_estimate(self.plan, self.far.layers()).usual_end();
        tune::room(turn, self.criteria.pairs) + self.person
    }
}

/// Applies changes, measures with and without them in turns, and keeps or undoes them.
///
/// # Errors
/// A change could not be applied or switched, or a measurement failed: everything was undone. Or a
/// change could neither be kept nor undone.
pub(crate) fn in_turns(sites: &Sites<'_>, to: &Proving<'_>) -> Result<ProveOutput, Failure> {
    if sites.is_empty() {
        return Ok(ProveOutput::default());
    }
    sites.apply(to.window())?;
    let turns = to.criteria.turns();
    let estimate = usual_estimate(to.plan, to.far.layers());
    format::say(format_args!(
        "the change waits, and is measured in {turns} turns, about {:.0} min",
        estimate.most_minutes(turns)
    ));
    let settled = sites.prove(
        &mut || {
            let run = to.far.measure(to.plan, None, Progress::Hidden, to.stop);
            let run = run.map_err(|failure| not_measured(failure.error))?;
            tune::whole(run)
        },
        &to.criteria,
    );
    for drift in &settled.drift {
        format::say(format_args!("note: {drift}"));
    }
    for stay in &settled.stay {
        format::say(format_args!("note: {stay}"));
    }
    let output = settled.output(sites.changes());
    output.map_err(|error| Failure::new(code::FAILED, error))
}

/// Stores prediction and outcome of a change of a path in the history.
#[cfg(feature = "history")]
pub(crate) fn recorded(
    place: &StoreArgs,
    path: &str,
    is_lab: bool,
    done: &ProveOutput,
) -> Result<(), Failure> {
    let Some(id) = tune::stored_as(done, is_lab, place.store.is_some()) else {
        return Ok(());
    };
    let body = serde_json::to_vec(done).context("write the proof as JSON")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_us = now.map_or(0, |d| d.as_micros() as u64);
    let mut document = store::Document::new(Kind::Change, id.as_str(), now_us, path, body);
    // As runs have it: a watch of another host shares the history, not the change.
    document.label(HOST, &sys::machine::host_name());
    place.open()?.save(&document)?;
    format::say(format_args!(
        "recorded as {}; see pathtwin advise --calibration",
        id.short()
    ));
    Ok(())
}

fn not_measured(error: anyhow::Error) -> MeasureError {
    let of_far = error.downcast_ref::<FarError>().map(FarError::text);
    let text = of_far.unwrap_or_else(|| Text::name(error.to_string()));
    MeasureError::new(text, error)
}
