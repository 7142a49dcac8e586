//! Figures of each key over its samples, and ratios between keys.

use std::collections::BTreeMap;

use model::{
    net::Layer,
    run::{Figure, FigureKind, Key, Range, Ratio, Sample, Spread},
};
use stats::Interval;

use crate::{bounds::Bounds, figures::value, percentile};

/// Drift is reported if chance alone would show it less often than this.
const SURE: f64 = 0.01;

/// Minimum number of values for an interval. With fewer, Student's interval is wider than any
/// plausible range of the path, and the range of the values is stated instead.
pub const ENOUGH: usize = 5;

/// Figures over the valid samples, by key and in the order of [`FigureKind::ALL`].
pub fn figures(samples: &[Sample]) -> Vec<Figure> {
    figures_of(by_key(samples), &Bounds::of(samples))
}

/// Figures over invalid samples, for keys without a valid one: observations that support no
/// conclusion.
pub fn not_counted(samples: &[Sample]) -> Vec<Figure> {
    let valid = by_key(samples);
    let mut others: BTreeMap<&Key, Vec<&Sample>> = BTreeMap::new();
    for sample in samples.iter().filter(|s| !valid.contains_key(&s.key)) {
        others.entry(&sample.key).or_default().push(sample);
    }
    figures_of(others, &Bounds::of(samples))
}

fn figures_of(keys: BTreeMap<&Key, Vec<&Sample>>, bounds: &Bounds) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (key, samples) in keys {
        for kind in FigureKind::ALL {
            let points = points(&samples, kind);
            if points.is_empty() {
                continue;
            }
            let values: Vec<f64> = points.iter().map(|p| p.1).collect();
            if let Some(spread) = spread(&values, bounds.of_figure(key, kind)) {
                figures.push(Figure {
                    key: key.clone(),
                    kind,
                    spread,
                    drift: drift(&points, spread.median),
                });
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
    let mut ratios = Vec::new();
    for (&of, above) in &keys {
        for to in references(of) {
            let Some(below) = keys.get(&to) else {
                continue;
            };
            let all = FigureKind::ALL.into_iter();
            ratios.extend(all.filter_map(|kind| {
                let found = ratio(above, below, kind)?;
                Some(found.between(of, &to, kind))
            }));
        }
    }
    ratios
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
            n_of: self.n[0],
            n_to: self.n[1],
        }
    }
}

/// The ratio of a figure. Where both were measured in the same blocks, from the ratio of each
/// block, so that common variation cancels out; else of the medians.
pub fn ratio(above: &[&Sample], below: &[&Sample], kind: FigureKind) -> Option<Found> {
    let values = |samples: &[&Sample]| -> Vec<(u32, f64)> {
        samples
            .iter()
            .filter_map(|s| Some((s.block, value(s, kind)?)))
            .collect()
    };
    let (above, below) = (values(above), values(below));
    let all = |v: &[(u32, f64)]| v.iter().map(|p| p.1).collect::<Vec<_>>();
    let pairs: Vec<f64> = above
        .iter()
        .filter_map(|(block, a)| {
            let (_, b) = below.iter().find(|(other, _)| other == block)?;
            (*b > 0.0 && *block > 0).then(|| a / b)
        })
        .collect();
    let paired = pairs.len() == above.len() && pairs.len() == below.len();
    let found = if paired {
        stats::paired_ratio(&pairs)
    } else {
        stats::ratio(&all(&above), &all(&below))
    };
    let stated = found.filter(|_| above.len().min(below.len()) >= ENOUGH);
    let plain = || {
        let (a, b) = (stats::median(&all(&above))?, stats::median(&all(&below))?);
        (b > 0.0).then(|| a / b)
    };
    Some(Found {
        value: found.map_or_else(plain, |r| Some(r.value))?,
        interval: stated.map(|r| r.interval),
        range: paired.then(|| range(&pairs)).flatten(),
        n: [above.len(), below.len()],
    })
}
