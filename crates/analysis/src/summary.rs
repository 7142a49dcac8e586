//! Figures of each key over its samples, and ratios between keys.

use std::collections::BTreeMap;

use model::{
    net::Layer,
    run::{Figure, FigureKind, Key, Pooled, Range, Ratio, Sample, Spread},
};
use stats::Interval;

use crate::{bounds::Bounds, figures::value, percentile, pooled};

/// Drift is reported if chance alone would show it less often than this.
const SURE: f64 = 0.01;

/// Minimum number of values for an interval. With fewer, Student's interval is wider than any
/// plausible range of the path, and the range of the values is stated instead.
pub const ENOUGH: usize = 5;

/// Figures over the valid samples, by key and in the order of [`FigureKind::ALL`].
pub fn figures(samples: &[Sample]) -> Vec<Figure> {
    let bounds = Bounds::of(samples);
    let mut all = figures_of(by_key(samples), &bounds);
    let sets: Vec<_> = all
        .iter()
        .map(|(f, values)| (pooled::step(&f.key), f.kind, values.as_slice()))
        .collect();
    let intervals = pooled::intervals(&sets, ENOUGH);
    for ((figure, _), interval) in all.iter_mut().zip(intervals) {
        let [least, most] = bounds.of_figure(&figure.key, figure.kind);
        figure.spread.pooled = interval.map(|i| Pooled {
            low: i.low.clamp(least, most),
            high: i.high.clamp(least, most),
            ..i
        });
    }
    all.into_iter().map(|(figure, _)| figure).collect()
}

/// Figures over invalid samples, for keys without a valid one: observations that support no
/// conclusion.
pub fn not_counted(samples: &[Sample]) -> Vec<Figure> {
    let valid = by_key(samples);
    let mut others: BTreeMap<&Key, Vec<&Sample>> = BTreeMap::new();
    for sample in samples.iter().filter(|s| !valid.contains_key(&s.key)) {
        others.entry(&sample.key).or_default().push(sample);
    }
    let all = figures_of(others, &Bounds::of(samples));
    all.into_iter().map(|(figure, _)| figure).collect()
}

/// Figures, and the values of each.
fn figures_of(keys: BTreeMap<&Key, Vec<&Sample>>, bounds: &Bounds) -> Vec<(Figure, Vec<f64>)> {
    let mut figures = Vec::new();
    for (key, samples) in keys {
        for kind in FigureKind::ALL {
            let points = points(&samples, kind);
            if points.is_empty() {
                continue;
            }
            let values: Vec<f64> = points.iter().map(|p| p.1).collect();
            if let Some(spread) = spread(&values, bounds.of_figure(key, kind)) {
                let figure = Figure {
                    key: key.clone(),
                    kind,
                    spread,
                    drift: drift(&points, spread.median),
                };
                figures.push((figure, values));
            }
        }
    }
    figures
}

/// The figure over samples: the median over the samples that have it.
pub fn median(samples: &[&Sample], kind: FigureKind) -> Option<f64> {
    let values: Vec<f64> = samples.iter().filter_map(|s| value(s, kind)).collect();
    stats::median(&values)
}

fn by_key(samples: &[Sample]) -> BTreeMap<&Key, Vec<&Sample>> {
    let mut keys: BTreeMap<&Key, Vec<&Sample>> = BTreeMap::new();
    for sample in samples.iter().filter(|s| s.valid) {
        keys.entry(&sample.key).or_default().push(sample);
    }
    keys
}

/// Times (s) and values of a kind of figure.
fn points(samples: &[&Sample], kind: FigureKind) -> Vec<(f64, f64)> {
    samples
        .iter()
        .filter_map(|s| Some((s.at_us as f64 / 1e6, value(s, kind)?)))
        .collect()
}

/// The 95 % interval of the median of repeats whose number the stop rule chose; `None` for fewer
/// than [`ENOUGH`].
pub fn interval(values: &[f64]) -> Option<Interval> {
    stats::StopRule::interval(values).filter(|_| values.len() >= ENOUGH)
}

/// Smallest and largest possible value of a figure of a key, by the physical limits that these
/// samples show.
pub fn limits(samples: &[Sample], key: &Key, kind: FigureKind) -> [f64; 2] {
    Bounds::of(samples).of_figure(key, kind)
}

/// Centre and spread of values that can be within these bounds; `None` without any.
pub fn spread(values: &[f64], [least, most]: [f64; 2]) -> Option<Spread> {
    let interval = interval(values);
    let possible = |value: f64| value.clamp(least, most);
    Some(Spread {
        n: values.len(),
        median: stats::median(values)?,
        mean: stats::mean(values)?,
        sd: stats::standard_deviation(values),
        p95: percentile::p95(values),
        p99: percentile::p99(values),
        low: interval.map(|i| possible(i.low)),
        high: interval.map(|i| possible(i.high)),
        range: range(values),
        pooled: None,
    })
}

/// The range of a few values.
fn range(values: &[f64]) -> Option<Range> {
    (2..ENOUGH).contains(&values.len()).then(|| Range {
        low: values.iter().copied().fold(f64::INFINITY, f64::min),
        high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
}

fn drift(points: &[(f64, f64)], center: f64) -> Option<f64> {
    let drift = stats::drift(points).filter(|d| d.p < SURE)?;
    let span = points.last()?.0 - points.first()?.0;
    (center > 0.0).then(|| drift.slope * span / center)
}

/// Ratios of the tunnel over the path below it, and of each congestion control over cubic.
pub fn ratios(samples: &[Sample]) -> Vec<Ratio> {
    let keys = by_key(samples);
    let mut all = Vec::new();
    for (&of, above) in &keys {
        for to in references(of) {
            let Some(below) = keys.get(&to) else {
                continue;
            };
            let kinds = FigureKind::ALL.into_iter();
            all.extend(kinds.filter_map(|kind| {
                let pairs = Pairs::of(above, below, kind);
                let found = pairs.ratio()?.between(of, &to, kind);
                Some((found, pairs.paired()))
            }));
        }
    }
    let like = |r: &Ratio| (pooled::step(&r.of), pooled::step(&r.to));
    let sets: Vec<_> = all
        .iter()
        .map(|(r, pairs)| (like(r), r.kind, pairs.as_deref().unwrap_or_default()))
        .collect();
    let intervals = pooled::intervals(&sets, ENOUGH);
    let pairs = all.into_iter().zip(intervals);
    pairs
        .map(|((r, _), pooled)| Ratio { pooled, ..r })
        .collect()
}

/// Returns the keys to compare a key with.
fn references(key: &Key) -> Vec<Key> {
    let mut references = Vec::new();
    if key.layer == Layer::Tunnel {
        let layer = Layer::Underlay;
        references.push(Key {
            layer,
            ..key.clone()
        });
    }
    if key.cc.as_ref().is_some_and(|cc| cc != "cubic") {
        let cc = Some("cubic".to_owned());
        references.push(Key { cc, ..key.clone() });
    }
    references
}

/// A ratio of a figure between samples of two keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The ratio.
    pub value: f64,
    /// Its interval, with [`ENOUGH`] samples of both.
    interval: Option<Interval>,
    /// The range of fewer blocks.
    range: Option<Range>,
    n: [usize; 2],
}

impl Found {
    fn between(self, of: &Key, to: &Key, kind: FigureKind) -> Ratio {
        Ratio {
            of: of.clone(),
            to: to.clone(),
            kind,
            ratio: self.value,
            low: self.interval.map(|i| i.low),
            high: self.interval.map(|i| i.high),
            range: self.range,
            pooled: None,
            n_of: self.n[0],
            n_to: self.n[1],
        }
    }
}

/// Values of a figure on both sides, and their ratios in the blocks that have both.
struct Pairs {
    above: Vec<f64>,
    below: Vec<f64>,
    ratios: Vec<f64>,
}

impl Pairs {
    fn of(above: &[&Sample], below: &[&Sample], kind: FigureKind) -> Self {
        let values = |samples: &[&Sample]| -> Vec<(u32, f64)> {
            samples
                .iter()
                .filter_map(|s| Some((s.block, value(s, kind)?)))
                .collect()
        };
        let (above, below) = (values(above), values(below));
        let ratios = above.iter().filter_map(|(block, a)| {
            let (_, b) = below.iter().find(|(other, _)| other == block)?;
            (*b > 0.0 && *block > 0).then(|| a / b)
        });
        let all = |v: &[(u32, f64)]| v.iter().map(|p| p.1).collect::<Vec<_>>();
        Self {
            ratios: ratios.collect(),
            above: all(&above),
            below: all(&below),
        }
    }

    /// The ratios, if every value is in one.
    fn paired(self) -> Option<Vec<f64>> {
        self.is_paired().then_some(self.ratios)
    }

    fn is_paired(&self) -> bool {
        self.ratios.len() == self.above.len() && self.ratios.len() == self.below.len()
    }

    fn ratio(&self) -> Option<Found> {
        let paired = self.is_paired();
        let found = if paired {
            stats::paired_ratio(&self.ratios)
        } else {
            stats::ratio(&self.above, &self.below)
        };
        let n = [self.above.len(), self.below.len()];
        let stated = found.filter(|_| n[0].min(n[1]) >= ENOUGH);
        let plain = || {
            let (a, b) = (stats::median(&self.above)?, stats::median(&self.below)?);
            (b > 0.0).then(|| a / b)
        };
        Some(Found {
            value: found.map_or_else(plain, |r| Some(r.value))?,
            interval: stated.map(|r| r.interval),
            range: paired.then(|| range(&self.ratios)).flatten(),
            n,
        })
    }
}

/// The ratio of a figure. Where both were measured in the same blocks, from the ratio of each
/// block, so that common variation cancels out; else of the medians.
pub fn ratio(above: &[&Sample], below: &[&Sample], kind: FigureKind) -> Option<Found> {
    Pairs::of(above, below, kind).ratio()
}
