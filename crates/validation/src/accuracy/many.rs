//! Sets and series of runs, drawn from the runs of [`super::pairs`], to count correct verdicts.

use std::collections::BTreeMap;

use analysis::figures::value;
use compare::Measured;
use model::run::{FigureKind, Key, Run};
use stats::Random;

use super::{
    count::{Count, Found},
    pairs::{Path, Pool, Truth, judge, runs, wrong},
};

/// "The last 5 against the 20 before".
pub(super) const SETS: (usize, usize) = (20, 5);
/// Runs after a step within which it should be found.
pub(super) const WITHIN: usize = 5;

/// The counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Many {
    /// Sets of 20 and 5 runs without a change in which a figure was judged worse or better.
    pub false_alarms: Count,
    /// Goodputs judged worse in 5 runs with less capacity against 20 without, among those truly
    /// worse.
    pub slower: Found,
    /// P99s judged worse in 5 runs with a larger buffer against 20 without, among those truly
    /// worse.
    pub later: Found,
    /// The detected trends of each such goodput.
    pub trends: BTreeMap<Key, Trend>,
    /// Runs before the step.
    pub before: usize,
    /// Of each such goodput, how much the medians of runs without a change vary: their standard
    /// deviation over their mean.
    pub noise: BTreeMap<Key, f64>,
}

/// Series of all runs without a change, in some order, with 5 of less capacity behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trend {
    /// Series in which a change was reported among the last 5.
    pub found: Count,
    /// Series in which a change was reported before.
    pub early: Count,
}

impl Many {
    /// Returns the frequency with which a step was found, by key.
    pub(super) fn trends_found(&self) -> BTreeMap<&Key, Count> {
        let trends = self.trends.iter();
        trends.map(|(key, trend)| (key, trend.found)).collect()
    }
}

/// Draws `draws` sets and as many series.
pub fn count(pools: &[Pool], draws: usize, seed: u64) -> Many {
    let [before, slower, later] = Path::ALL.map(|path| runs(pools, path));
    let truth = Truth::of(pools);
    let mut random = Random::new(seed);
    let mut out = Many {
        before: before.len(),
        ..Many::default()
    };
    for key in &truth.slower {
        let values = medians(before, key, FigureKind::Goodput);
        if let Some(noise) = variation(&values) {
            out.noise.insert(key.clone(), noise);
        }
        let after = medians(slower, key, FigureKind::Goodput);
        let trend = trend(&values, &after, draws, &mut random);
        out.trends.insert(key.clone(), trend);
    }
    let [before, slower, later] =
        [before, slower, later].map(|runs| runs.iter().map(Measured::of).collect::<Vec<_>>());
    let (base, last) = SETS;
    if before.len() < base + last || slower.len() < last || later.len() < last {
        return out;
    }
    for _ in 0..draws {
        let all = drawn(&before, base + last, &mut random);
        let (base, same) = all.split_at(base);
        out.false_alarms.add(wrong(&judge(base, same)));
        let comparison = judge(base, &drawn(&slower, last, &mut random));
        out.slower
            .add(&comparison, FigureKind::Goodput, &truth.slower);
        let comparison = judge(base, &drawn(&later, last, &mut random));
        out.later.add(&comparison, FigureKind::RttP99, &truth.later);
    }
    out
}

/// Series of all of `before` in some order with some of `after` behind them.
fn trend(before: &[f64], after: &[f64], draws: usize, random: &mut Random) -> Trend {
    let mut out = Trend::default();
    if after.len() < WITHIN {
        return out;
    }
    for _ in 0..draws {
        let mut series = drawn(before, before.len(), random);
        series.extend(drawn(after, WITHIN, random));
        let changes = stats::changes(&series);
        let late = |change: &stats::Change| change.found >= before.len();
        out.found.add(changes.iter().any(late));
        out.early.add(!changes.iter().all(late));
    }
    out
}

/// `count` of them, in random order.
fn drawn<T: Clone>(from: &[T], wanted: usize, random: &mut Random) -> Vec<T> {
    let mut all: Vec<&T> = from.iter().collect();
    random.shuffle(&mut all);
    all.into_iter().take(wanted).cloned().collect()
}

/// A figure of each run, as in the history: the median of its valid samples.
fn medians(runs: &[Run], key: &Key, kind: FigureKind) -> Vec<f64> {
    let median = |run: &Run| {
        let samples = run.samples.iter().filter(|s| s.valid && s.key == *key);
        stats::median(&samples.filter_map(|s| value(s, kind)).collect::<Vec<_>>())
    };
    runs.iter().filter_map(median).collect()
}

fn variation(values: &[f64]) -> Option<f64> {
    Some(stats::standard_deviation(values)? / stats::mean(values)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(level: f64, n: usize, random: &mut Random) -> Vec<f64> {
        (0..n)
            .map(|_| level * (1.0 + 0.001 * (random.below(100) as f64 - 50.0) / 50.0))
            .collect()
    }

    #[test]
    fn a_step_far_beyond_the_noise_is_always_found_and_none_is_seen_before_it() {
        let mut random = Random::new(1);
        let (before, after) = (around(1.0, 33, &mut random), around(0.95, 17, &mut random));
        let trend = trend(&before, &after, 50, &mut random);
        assert_eq!((trend.found.hits, trend.found.of), (50, 50));
        assert!(trend.early.hits <= 3, "{}", trend.early);
    }

    #[test]
    fn without_a_step_nothing_is_found() {
        let mut random = Random::new(2);
        let (before, after) = (around(1.0, 33, &mut random), around(1.0, 17, &mut random));
        let trend = trend(&before, &after, 50, &mut random);
        assert!(trend.found.hits <= 3, "{}", trend.found);
    }

    #[test]
    fn the_variation_is_the_standard_deviation_over_the_mean() {
        // 1, 2, 3: mean 2, variance 1.
        assert_eq!(variation(&[1.0, 2.0, 3.0]), Some(0.5));
        assert_eq!(variation(&[1.0]), None);
    }
}
