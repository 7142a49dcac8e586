//! Pairs of runs of the default plan, to count how often a comparison is right: on one lab path
//! with different seeds, and on paths with a change that a comparison should find.

use std::collections::BTreeMap;

use analysis::figures::value;
use compare::{Measured, Options};
use model::{
    cell::{Buffer, Cell},
    comparison::{Comparison, Verdict},
    path::{self, Limit, Line, Loss, Nanos, Parameter, PathError, Trial},
    run::{FigureKind, Key, Run},
    units::{Bytes, Rate, Seed, Share},
};
use stats::Random;

use super::count::{Count, Found};

/// A path with its runs.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The path.
    pub path: Path,
    /// Runs that differ by the seed alone.
    pub runs: Vec<Run>,
}

/// A path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The unchanged path, with which the others are compared.
    Unchanged,
    /// 5 % less capacity.
    Slower,
    /// A buffer that holds 5 ms more.
    Later,
}

impl Path {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Unchanged, Self::Slower, Self::Later];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Slower => "slower",
            Self::Later => "later",
        }
    }

    /// Its cell. 50 kB are 20 ms at 20 Mbit/s; for the slower path they are 19 ms at its rate, so
    /// that its buffer has the same delay. A little loss makes TCP vary.
    ///
    /// # Errors
    /// The lab can make no such path; that would be our mistake.
    pub fn cell(self, seed: Seed) -> Result<Cell, PathError> {
        let (bps, buffer) = match self {
            Self::Unchanged => (20_000_000, 50_000),
            Self::Slower => (19_000_000, 47_500),
            Self::Later => (20_000_000, 62_500),
        };
        let line = Line {
            rate_bps: Some(Parameter::given(Limit::At(Rate::from_bps(bps)))),
            buffer: Some(Parameter::given(Buffer::Bytes(Bytes(buffer)))),
            delay_ns: Some(Parameter::given(Nanos(10_000_000))),
            loss: Share::new(0.0005).map(|share| Loss::Random {
                share: Parameter::given(share),
            }),
            ..Line::default()
        };
        let mut path = path::Path::named(self.name());
        (path.underlay.down, path.underlay.up) = (line.clone(), line);
        path.cell(&Trial {
            seed,
            ..Trial::default()
        })
    }
}

/// Verdicts on pairs of runs with this many repeats of each step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Repeats of each step that were compared, at most.
    pub repeats: u32,
    /// Pairs without a change of which a figure was judged worse or better.
    pub false_alarms: Count,
    /// Pairs with less capacity in which a goodput was judged worse, among those that truly lost 4
    /// % or more.
    pub slower: Found,
    /// Pairs with a larger buffer in which a P99 was judged worse, among those that truly rose by 4
    /// ms or more.
    pub later: Found,
}

/// Removes the time series and the hosts' counters of a run: most of its size, and not part of a
/// comparison.
pub fn without_series(run: &mut Run) {
    crate::runs::without_series(run);
    for sample in &mut run.samples {
        (sample.near, sample.far) = (None, None);
    }
}

/// Draws `wanted` pairs of distinct runs of each kind, and compares them with 3, 5, 8, … repeats,
/// up to the number that were run. A pair is drawn once; a run is part of many pairs.
pub fn count(pools: &[Pool], wanted: usize, seed: u64) -> Vec<Row> {
    let runs = |path| runs(pools, path);
    let most = pools.iter().flat_map(|pool| &pool.runs).map(blocks).max();
    let mut steps: Vec<u32> = [3, 5, 8].into_iter().filter(|n| Some(*n) < most).collect();
    steps.extend(most);
    let side = std::slice::from_ref;
    let truth = Truth::of(pools);
    let row = |repeats: u32| {
        let cut = |path| -> Vec<Measured> {
            let cut = runs(path)
                .iter()
                .map(|run| Measured::of(&first(run, repeats)));
            cut.collect()
        };
        let [before, slower, later] = Path::ALL.map(cut);
        let mut random = Random::new(seed);
        let mut row = Row {
            repeats,
            ..Row::default()
        };
        for (a, b) in pairs(before.len(), None, wanted, &mut random) {
            row.false_alarms
                .add(wrong(&judge(side(&before[a]), side(&before[b]))));
        }
        for (a, b) in pairs(before.len(), Some(slower.len()), wanted, &mut random) {
            let comparison = judge(side(&before[a]), side(&slower[b]));
            row.slower
                .add(&comparison, FigureKind::Goodput, &truth.slower);
        }
        for (a, b) in pairs(before.len(), Some(later.len()), wanted, &mut random) {
            let comparison = judge(side(&before[a]), side(&later[b]));
            row.later.add(&comparison, FigureKind::RttP99, &truth.later);
        }
        row
    };
    steps.into_iter().map(row).collect()
}

/// The runs on one of the paths.
pub(super) fn runs(pools: &[Pool], path: Path) -> &[Run] {
    let pool = pools.iter().find(|pool| pool.path == path);
    pool.map_or(&[], |pool| pool.runs.as_slice())
}

pub(super) fn judge(before: &[Measured], after: &[Measured]) -> Comparison {
    compare::compare(("before", before), ("after", after), &Options::default())
}

/// Returns true if a change is reported although there is none.
pub(super) fn wrong(comparison: &Comparison) -> bool {
    let worse = comparison.with(Verdict::Worse).next();
    worse.or(comparison.with(Verdict::Better).next()).is_some()
}

/// True changes, from all samples of all runs.
pub(super) struct Truth {
    /// Steps whose goodput fell by 4 % or more with less capacity.
    pub(super) slower: Vec<Key>,
    /// Steps whose P99 rose by 4 ms or more with a larger buffer.
    pub(super) later: Vec<Key>,
}

impl Truth {
    pub(super) fn of(pools: &[Pool]) -> Self {
        let [before, slower, later] = Path::ALL.map(|path| runs(pools, path));
        Self {
            slower: changed(before, slower, FigureKind::Goodput, &|b, a| a <= 0.96 * b),
            later: changed(before, later, FigureKind::RttP99, &|b, a| a >= b + 4000.0),
        }
    }
}

/// The steps whose medians over all samples of all runs have this relation.
fn changed(
    before: &[Run],
    after: &[Run],
    kind: FigureKind,
    related: &dyn Fn(f64, f64) -> bool,
) -> Vec<Key> {
    let medians = |runs: &[Run]| -> BTreeMap<Key, f64> {
        let mut values: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
        for sample in runs.iter().flat_map(|r| &r.samples).filter(|s| s.valid) {
            if let Some(value) = value(sample, kind) {
                values.entry(sample.key.clone()).or_default().push(value);
            }
        }
        let medians = values.into_iter();
        medians
            .filter_map(|(key, values)| Some((key, stats::median(&values)?)))
            .collect()
    };
    let (before, after) = (medians(before), medians(after));
    let both = before
        .into_iter()
        .filter_map(|(key, b)| Some((after.get(&key).copied()?, key, b)));
    both.filter(|(a, _, b)| related(*b, *a))
        .map(|(_, key, _)| key)
        .collect()
}

fn blocks(run: &Run) -> u32 {
    run.samples.iter().map(|s| s.block).max().unwrap_or(0)
}

/// The run as if it had ended after this many blocks. Block 0 contains the steps that are not
/// repeated.
fn first(run: &Run, repeats: u32) -> Run {
    let mut run = run.clone();
    run.samples.retain(|sample| sample.block <= repeats);
    run
}

/// `wanted` of all pairs, in random order: of two runs of the same pool, or with a run of another
/// pool of `other` runs.
fn pairs(
    runs: usize,
    other: Option<usize>,
    wanted: usize,
    random: &mut Random,
) -> Vec<(usize, usize)> {
    let of = |a: usize| match other {
        None => a + 1..runs,
        Some(other) => 0..other,
    };
    let mut all: Vec<(usize, usize)> = (0..runs).flat_map(|a| of(a).map(move |b| (a, b))).collect();
    random.shuffle(&mut all);
    all.truncate(wanted);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stored runs were measured on the paths of these specs.
    #[test]
    fn the_paths_are_those_of_their_specs() {
        for (path, rate, buffer) in [
            (Path::Unchanged, "20mbit", "50000B"),
            (Path::Slower, "19mbit", "47500B"),
            (Path::Later, "20mbit", "62500B"),
        ] {
            let name = path.name();
            let text = format!(
                "name = \"{name}\"\n[path]\nrate = \"{rate}\"\nrtt = \"20ms\"\n\
                 buffer = \"{buffer}\"\nloss = \"0.05%\"\n"
            );
            let spec = model::spec::Spec::parse(name, &text).unwrap().with_seed(7);
            let cells = spec.cells().unwrap();
            assert_eq!(cells, [path.cell(Seed(7)).unwrap()]);
        }
    }

    #[test]
    fn a_pair_has_two_runs_and_occurs_once() {
        let mut random = Random::new(1);
        let all = pairs(33, None, 1000, &mut random);
        assert_eq!(all.len(), 33 * 32 / 2);
        assert!(all.iter().all(|(a, b)| a < b));
        assert_eq!(pairs(33, Some(16), 500, &mut random).len(), 500);
    }
}
