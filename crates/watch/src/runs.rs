//! Where finished runs go.

use model::{run::Run, text::Text};

use crate::{config::PathConfig, moment::DAY_NS};

/// Where a run is.
#[cfg_attr(
    not(feature = "history"),
    expect(dead_code, reason = "there is no history")
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the history, under this id.
    History(String),
    /// To be taken by the history later.
    Waits,
    /// Nowhere but in the state, as values of its figures.
    State,
}

/// A change of `tune`: when it was made, µs since 1970, and its id.
pub(crate) type Changed = (u64, String);

/// A place for runs.
pub(crate) trait Runs {
    /// Keeps a run of a path. Returns where it is, and the changes of `tune` of the two days before
    /// it, as far as they are known there.
    fn keep(
        &mut self,
        path: &PathConfig,
        run: &Run,
        log: &mut dyn FnMut(&Text),
    ) -> (Place, Vec<Changed>);

    /// Time from one [`Self::retry`] to the next, ns.
    fn every_ns(&self) -> u64 {
        DAY_NS
    }

    /// Keeps those again that were not taken before.
    fn retry(&mut self, _: &mut dyn FnMut(&Text)) {}

    /// Does it a last time, and logs what is lost.
    fn end(&mut self, _: &mut dyn FnMut(&Text)) {}
}

/// Keeps no run, in a build without a history.
#[cfg(not(feature = "history"))]
pub(crate) struct NoRuns;

#[cfg(not(feature = "history"))]
impl Runs for NoRuns {
    fn keep(&mut self, _: &PathConfig, _: &Run, _: &mut dyn FnMut(&Text)) -> (Place, Vec<Changed>) {
        (Place::State, Vec::new())
    }
}
