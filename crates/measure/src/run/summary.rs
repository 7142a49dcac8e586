//! What the samples say together: figures of each key, and ratios between keys.

use std::collections::BTreeMap;

use model::{
    net::Layer,
    run::{FIGURES, Figure, Key, Ratio, Run, Sample, Spread},
};
use sys::clock::Instant;

/// Drift that chance alone would show less often than this is told.
const SURE: f64 = 0.01;

/// Fewest values of which a 95th or 99th percentile is told.
const ENOUGH_95: usize = 20;
const ENOUGH_99: usize = 100;

/// Ends a run that began at `zero`: what its samples say together, and whether its user `stopped` it.
pub(super) fn conclude(run: &mut Run, zero: Instant, stopped: bool) {
    if stopped {
        run.cut_short = Some("stopped by the user".to_owned());
    }
    run.took_s = Instant::now().since(zero) as f64 / 1e9;
    run.figures = figures(&run.samples);
    run.ratios = ratios(&run.samples);
}

/// Figures over the valid samples, by key and in the order of [`FIGURES`].
pub fn figures(samples: &[Sample]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (key, samples) in by_key(samples) {
        for kind in FIGURES {
            let points = points(&samples, kind.name);
            if points.is_empty() {
                continue;
            }
            let values: Vec<f64> = points.iter().map(|p| p.1).collect();
            if let Some(spread) = spread(&values, kind.name) {
                figures.push(Figure {
                    key: key.clone(),
                    kind: kind.name.to_owned(),
                    spread,
                    drift: drift(&points, spread.median),
                });
            }
        }
    }
    figures
}

fn by_key(samples: &[Sample]) -> BTreeMap<&Key, Vec<&Sample>> {
    let mut keys: BTreeMap<&Key, Vec<&Sample>> = BTreeMap::new();
    for sample in samples.iter().filter(|s| s.valid) {
        keys.entry(&sample.key).or_default().push(sample);
    }
    keys
}

/// Times (s) and values of a kind of figure.
fn points(samples: &[&Sample], kind: &str) -> Vec<(f64, f64)> {
    samples
        .iter()
        .filter_map(|s| Some((s.at_us as f64 / 1e6, s.value(kind)?)))
        .collect()
}

/// Largest value a figure can have: 1 for shares.
fn most(kind: &str) -> f64 {
    let share = !["_bps", "_us", "_bytes", "_gb"]
        .iter()
        .any(|unit| kind.ends_with(unit));
    if share { 1.0 } else { f64::INFINITY }
}

fn spread(values: &[f64], kind: &str) -> Option<Spread> {
    let interval = stats::StopRule::interval(values);
    let possible = |value: f64| value.clamp(0.0, most(kind));
    let percentile = |p, enough| {
        (values.len() >= enough)
            .then(|| stats::percentile(values, p))
            .flatten()
    };
    Some(Spread {
        n: values.len(),
        median: stats::median(values)?,
        mean: stats::mean(values)?,
        sd: stats::standard_deviation(values),
        p95: percentile(95.0, ENOUGH_95),
        p99: percentile(99.0, ENOUGH_99),
        low: interval.map(|i| possible(i.low)),
        high: interval.map(|i| possible(i.high)),
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
            ratios.extend(
                FIGURES
                    .iter()
                    .filter_map(|kind| ratio((of, above), (&to, below), kind.name)),
            );
        }
    }
    ratios
}

/// What a key is to be compared with.
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

/// The ratio of a figure. Where both were measured in the same blocks, from the ratio of each block,
/// so that what a block has in common falls out.
fn ratio(
    (of, above): (&Key, &[&Sample]),
    (to, below): (&Key, &[&Sample]),
    kind: &str,
) -> Option<Ratio> {
    let values = |samples: &[&Sample]| -> Vec<(u32, f64)> {
        samples
            .iter()
            .filter_map(|s| Some((s.block, s.value(kind)?)))
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
    let plain = || {
        let (a, b) = (stats::median(&all(&above))?, stats::median(&all(&below))?);
        (b > 0.0).then(|| a / b)
    };
    Some(Ratio {
        of: of.clone(),
        to: to.clone(),
        kind: kind.to_owned(),
        ratio: found.map_or_else(plain, |r| Some(r.value))?,
        low: found.map(|r| r.interval.low),
        high: found.map(|r| r.interval.high),
        n_of: above.len(),
        n_to: below.len(),
    })
}
