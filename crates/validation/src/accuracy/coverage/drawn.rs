//! Coverage on drawn paths: some Runs of one plan on each, which differ in the seed only.
//!
//! A Run of a plan that may end early counts for several: each of its parts of as many blocks as
//! the plan repeats its steps at least is what a Run would have been that ended there.

use std::{collections::BTreeMap, fmt::Write as _};

use analysis::summary;
use model::run::{Figure, FigureKind, Key, Pooled, Range, Ratio, Run, Sample};

use crate::accuracy::count::Count;

/// What a value is of: a figure or a ratio, and its kind.
type Row = (bool, FigureKind);

/// How often the truth was in what a Run states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// In the interval of five repeats and more.
    pub interval: Count,
    /// In the interval of fewer, by a pooled spread.
    pub pooled: Count,
    /// In the range of fewer.
    pub range: Count,
}

/// What a Run states of a value.
#[derive(Clone, Copy, Debug)]
struct Stated {
    interval: Option<(f64, f64)>,
    pooled: Option<Pooled>,
    range: Option<Range>,
}

/// A value in a Run: its row, its name, the centre, and what is stated of it.
type Value = (Row, (Key, Option<Key>), f64, Stated);

/// Counts over the Runs of each path. The truth of a value is its centre over the samples of all
/// Runs of the path.
pub fn count(paths: &[Vec<Run>]) -> BTreeMap<Row, Held> {
    let mut rows: BTreeMap<Row, Held> = BTreeMap::new();
    for runs in paths.iter().filter(|runs| runs.len() > 1) {
        let all = values(&together(runs));
        let truth: BTreeMap<_, f64> = all
            .into_iter()
            .map(|(row, name, centre, _)| ((row, name), centre))
            .collect();
        let parts = runs.iter().flat_map(parts);
        for (row, name, _, stated) in parts.flat_map(|part| values(&part)) {
            if let Some(truth) = truth.get(&(row, name)) {
                stated.add(*truth, rows.entry(row).or_default());
            }
        }
    }
    rows.retain(|_, held| *held != Held::default());
    rows
}

/// The samples of all Runs as those of one, with blocks of their own.
fn together(runs: &[Run]) -> Vec<Sample> {
    let mut all = Vec::new();
    let mut before = 0;
    for run in runs {
        all.extend(run.samples.iter().cloned().map(|mut sample| {
            // Block 0 is what is measured once, before the blocks.
            sample.block += if sample.block > 0 { before } else { 0 };
            sample
        }));
        before += blocks(run);
    }
    all
}

/// The parts of a Run: what is measured once, and the blocks of each. Blocks that are too few for a
/// part are left out, unless there is no other.
fn parts(run: &Run) -> Vec<Vec<Sample>> {
    let (blocks, least) = (blocks(run), run.plan.repeats.min.max(1));
    let of = |part: u32| {
        let inside = |s: &&Sample| s.block == 0 || (s.block - 1) / least == part;
        run.samples.iter().filter(inside).cloned().collect()
    };
    (0..(blocks / least).max(1)).map(of).collect()
}

fn blocks(run: &Run) -> u32 {
    run.samples.iter().map(|s| s.block).max().unwrap_or(0)
}

fn values(samples: &[Sample]) -> Vec<Value> {
    let figure = |f: Figure| {
        let stated = Stated {
            interval: f.spread.low.zip(f.spread.high),
            pooled: f.spread.pooled,
            range: f.spread.range,
        };
        ((false, f.kind), (f.key, None), f.spread.median, stated)
    };
    let ratio = |r: Ratio| {
        let stated = Stated {
            interval: r.low.zip(r.high),
            pooled: r.pooled,
            range: r.range,
        };
        ((true, r.kind), (r.of, Some(r.to)), r.ratio, stated)
    };
    let figures = summary::figures(samples).into_iter().map(figure);
    let ratios = summary::ratios(samples).into_iter().map(ratio);
    figures.chain(ratios).collect()
}

impl Stated {
    fn add(self, truth: f64, held: &mut Held) {
        // A point, of repeats that agree, contains its centre in spite of rounding.
        let error = 1e-9 * truth.abs();
        let contains = |low: f64, high: f64| low - error <= truth && truth <= high + error;
        if let Some((low, high)) = self.interval {
            held.interval.add(contains(low, high));
        }
        if let Some(pooled) = self.pooled {
            held.pooled.add(contains(pooled.low, pooled.high));
        }
        if let Some(range) = self.range {
            held.range.add(contains(range.low, range.high));
        }
    }
}

/// The table, with a last line of all.
pub fn markdown(rows: &BTreeMap<Row, Held>) -> String {
    let mut out = String::from(
        "| figure | interval, n ≥ 5 | pooled, n < 5 | range, n < 5 |\n|---|---|---|---|\n",
    );
    let mut all = Held::default();
    for ((is_ratio, kind), held) in rows {
        let name = if *is_ratio { "ratio of " } else { "" };
        line(&format!("{name}`{}`", kind.name()), held, &mut out);
        all.interval = all.interval.and(held.interval);
        all.pooled = all.pooled.and(held.pooled);
        all.range = all.range.and(held.range);
    }
    line("all", &all, &mut out);
    out
}

fn line(name: &str, held: &Held, out: &mut String) {
    let cell = |count: Count| match count.of {
        0 => String::new(),
        _ => count.to_string(),
    };
    let [interval, pooled, range] = [held.interval, held.pooled, held.range].map(cell);
    let _ = writeln!(out, "| {name} | {interval} | {pooled} | {range} |");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use corpus::compose::{Scene, run};
    use serde_json::json;

    /// A Run with cubic and BBR at these rates, by block, of a plan with a least number of them.
    fn run_of(least: u32, cubic: &[f64], bbr: &[f64]) -> Run {
        let sample = |cc: &str, block: usize, mbps: f64| -> Sample {
            let key = json!({
                "step": "tcp", "layer": "underlay", "family": "v4", "direction": "down",
                "flows": 1, "cc": cc,
            });
            let tcp = json!({
                "window_us": [0, 1], "goodput_bps": 1e6 * mbps, "bytes": 1, "flows": [],
            });
            let sample = json!({
                "number": 0, "key": key, "block": block + 1, "at_us": 0, "took_us": 1,
                "valid": true, "tcp": tcp,
            });
            serde_json::from_value(sample).unwrap()
        };
        let of = |cc: &'static str, all: &[f64]| {
            let all = all.iter().enumerate();
            all.map(|(block, mbps)| sample(cc, block, *mbps))
                .collect::<Vec<_>>()
        };
        let mut run = run(&Scene::default(), 1);
        run.samples = [of("cubic", cubic), of("bbr", bbr)].concat();
        run.plan.repeats.min = least;
        run
    }

    fn of(held: &BTreeMap<Row, Held>, is_ratio: bool) -> Held {
        held[&(is_ratio, FigureKind::Goodput)]
    }

    #[test]
    fn each_run_is_asked_for_the_centre_of_all_runs() {
        // The median of cubic is 19 over all Runs: within what the first two state, and far from
        // the third. BBR has 20 in all; in the second, cubic scatters too much to be pooled.
        let calm = run_of(3, &[19.0, 18.9, 19.1], &[20.0, 20.1, 19.9]);
        let other = run_of(4, &[29.0, 19.0, 19.0, 19.0], &[20.0, 20.1, 19.9, 20.0]);
        let off = run_of(3, &[15.0, 15.1, 14.9], &[20.0, 20.1, 19.9]);
        let held = of(&count(&[vec![calm, other, off]]), false);
        assert_eq!(held.interval, Count::default());
        assert_eq!((held.pooled.hits, held.pooled.of), (4, 5));
        assert_eq!((held.range.hits, held.range.of), (5, 6));
    }

    #[test]
    fn five_repeats_are_counted_by_their_interval() {
        let one = run_of(5, &[19.0, 18.9, 19.1, 19.0, 19.05], &[20.0; 5]);
        let held = count(&[vec![one.clone(), one]]);
        let goodput = of(&held, false);
        assert_eq!((goodput.interval.hits, goodput.interval.of), (4, 4));
        assert_eq!((goodput.pooled, goodput.range), Default::default());
        assert_eq!(of(&held, true).interval, Count { hits: 2, of: 2 });
    }

    #[test]
    fn ten_repeats_of_a_plan_that_may_end_at_five_count_for_two_runs() {
        let ten: Vec<f64> = (0..10).map(|i| 19.0 + 0.01 * f64::from(i)).collect();
        let one = run_of(5, &ten, &ten);
        let goodput = of(&count(&[vec![one.clone(), one]]), false);
        assert_eq!(goodput.interval.of, 8);
        // Two blocks that are left do not count.
        let seven = run_of(5, &ten[..7], &ten[..7]);
        let goodput = of(&count(&[vec![seven.clone(), seven]]), false);
        assert_eq!((goodput.interval.of, goodput.range.of), (4, 0));
    }

    /// The centre of one Run is always within what it states.
    #[test]
    fn a_path_with_one_run_counts_for_nothing() {
        let one = run_of(3, &[19.0, 18.9, 19.1], &[20.0, 20.1, 19.9]);
        assert!(count(&[vec![one]]).is_empty());
    }
}
