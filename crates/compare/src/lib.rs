//! Comparison of two sets of runs, without I/O.
//!
//! Each kind of figure of each step is compared by the ratio of its medians (the difference, where
//! values may be 0), with an interval and a test that fit skewed values. The tests are corrected
//! for their number, so that two sets between which nothing changed differ in at most one
//! comparison of twenty, however many figures they have.

mod judge;
mod measured;
mod select;
mod set;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use model::{
    comparison::{COMPARISON_SCHEMA, Compared, Comparison, RunSet, Unit},
    run::FigureKind,
    text,
    text::Text,
};

pub use measured::Measured;
pub use select::{Query, SelectError, Selected, Source, select};
pub use set::{NoSet, Set};

/// Options of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Smallest relevant change, as a share.
    pub threshold: f64,
    /// Only these kinds; empty = all.
    pub only: Vec<FigureKind>,
}

/// Default smallest relevant change.
pub const THRESHOLD: f64 = 0.02;

impl Default for Options {
    fn default() -> Self {
        Self {
            threshold: THRESHOLD,
            only: Vec::new(),
        }
    }
}

/// Smallest relevant change of a share such as loss: a tenth of a percentage point.
const SHARE_THRESHOLD: f64 = 0.001;

/// Minimum number of runs to use runs as values, and on the other side if one side has fewer.
const RUNS: (usize, usize) = (3, 5);

/// Compares the runs `after` with those `before`. The names used to request the sets.
pub fn compare(
    before: (&str, &[Measured]),
    after: (&str, &[Measured]),
    options: &Options,
) -> Comparison {
    let side = |(name, runs): (&str, &[Measured])| RunSet {
        name: name.to_owned(),
        runs: runs.iter().map(|run| run.id.clone()).collect(),
    };
    let mut comparison = Comparison {
        schema: COMPARISON_SCHEMA,
        before: side(before),
        after: side(after),
        threshold: options.threshold,
        share_threshold: SHARE_THRESHOLD,
        lines: lines(before.1, after.1, options),
        only_before: Vec::new(),
        only_after: Vec::new(),
        no_throughput: None,
        notes: notes(before.1, after.1),
    };
    comparison.no_throughput = no_throughput(&comparison, before.1, after.1, options);
    judge::correct(&mut comparison);
    let (keys_before, keys_after) = (keys(before.1), keys(after.1));
    let without = |a: &BTreeSet<_>, b: &BTreeSet<_>| a.difference(b).copied().cloned().collect();
    comparison.only_before = without(&keys_before, &keys_after);
    comparison.only_after = without(&keys_after, &keys_before);
    comparison
}

fn keys(runs: &[Measured]) -> BTreeSet<&model::run::Key> {
    runs.iter().flat_map(Measured::keys).collect()
}

/// Every figure that both sets have, without verdicts.
fn lines(before: &[Measured], after: &[Measured], options: &Options) -> Vec<Compared> {
    let unit = unit(before.len(), after.len());
    let mut lines = Vec::new();
    for key in keys(before).intersection(&keys(after)) {
        for kind in FigureKind::ALL
            .into_iter()
            .filter(|kind| wanted(*kind, options))
        {
            let values = |runs: &[Measured]| -> Vec<f64> {
                runs.iter()
                    .flat_map(|run| run.values(key, kind, unit))
                    .collect()
            };
            lines.extend(judge::line(
                key,
                kind,
                unit,
                &values(before),
                &values(after),
            ));
        }
    }
    lines
}

fn wanted(kind: FigureKind, options: &Options) -> bool {
    options.only.is_empty() || options.only.contains(&kind)
}

/// Runs are compared as units if there are enough of them: more may change between runs than
/// between samples.
fn unit(before: usize, after: usize) -> Unit {
    let (few, many) = (before.min(after), before.max(after));
    if few >= RUNS.0 || (few > 0 && many >= RUNS.1) {
        Unit::Runs
    } else {
        Unit::Samples
    }
}

/// Returns why no goodput is compared, although one side tried to measure it and it is selected.
fn no_throughput(
    comparison: &Comparison,
    before: &[Measured],
    after: &[Measured],
    options: &Options,
) -> Option<Text> {
    let compared = |line: &Compared| line.kind == FigureKind::Goodput;
    if !wanted(FigureKind::Goodput, options) || comparison.lines.iter().any(compared) {
        return None;
    }
    let count = |runs: &[Measured]| {
        let add = |(valid, all), run: &Measured| (valid + run.throughput.0, all + run.throughput.1);
        runs.iter().fold((0, 0), add)
    };
    let (before, after) = (count(before), count(after));
    let tried = before.1 + after.1 > 0;
    tried.then(|| {
        text!(
            "no throughput is compared: of the TCP and QUIC samples, {before} of {all_before} are valid before and {after} of {all_after} after",
            before = before.0,
            all_before = before.1,
            after = after.0,
            all_after = after.1
        )
    })
}

fn notes(before: &[Measured], after: &[Measured]) -> Vec<Text> {
    let mut notes = Vec::new();
    if before.is_empty() || after.is_empty() {
        notes.push(text!("a side has no run"));
    } else if unit(before.len(), after.len()) == Unit::Samples {
        notes.push(text!(
            "so few runs cannot show how much runs differ without a change: compare three with three, or one with five"
        ));
    }
    let ids: BTreeSet<&str> = before.iter().map(|run| run.id.as_str()).collect();
    if after.iter().any(|run| ids.contains(run.id.as_str())) {
        notes.push(text!("a run is on both sides"));
    }
    let labs: BTreeSet<bool> = before.iter().chain(after).map(|run| run.lab).collect();
    if labs.len() > 1 {
        notes.push(text!("some runs are of a lab path, others of real hosts"));
    }
    notes
}
