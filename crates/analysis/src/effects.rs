//! Effects of the factors of a lab matrix on the goodput.

use model::row::Row;

use crate::repeats::Summary;

/// The largest effect of one factor with all others unchanged.
#[derive(Clone, Debug)]
pub struct Effect<'a> {
    /// The factor.
    pub key: &'a str,
    /// The setting with the lower goodput.
    pub worse: &'a Summary<'a>,
    /// The setting with the higher one.
    pub better: &'a Summary<'a>,
    /// Higher over lower.
    pub ratio: f64,
}

/// Goodput of a setting, Mbit/s: the median over its valid repeats.
pub fn goodput_mbps(group: &Summary<'_>) -> Option<f64> {
    Some(group.spread(|r| r.goodput_mbps)?.median)
}

/// The settings with the lowest and the highest goodput, and these, Mbit/s; `None` of fewer than
/// two settings.
pub fn extremes<'a>(groups: &'a [Summary<'a>]) -> Option<[(&'a Summary<'a>, f64); 2]> {
    let known = groups.iter().filter_map(|g| Some((g, goodput_mbps(g)?)));
    let mut ranked: Vec<(&Summary<'_>, f64)> = known.collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (worst, best) = (ranked.first()?, ranked.last()?);
    (ranked.len() > 1).then_some([*worst, *best])
}

/// The largest effect of each factor that changes the goodput by more than a factor of `least`, the
/// largest first.
pub fn largest<'a>(groups: &'a [Summary<'a>], least: f64) -> Vec<Effect<'a>> {
    let mut largest: Vec<Effect<'a>> = Vec::new();
    for effect in all(groups, least) {
        if !largest.iter().any(|e| e.key == effect.key) {
            largest.push(effect);
        }
    }
    largest
}

fn all<'a>(groups: &'a [Summary<'a>], least: f64) -> Vec<Effect<'a>> {
    let goodputs: Vec<Option<f64>> = groups.iter().map(goodput_mbps).collect();
    let mut effects = Vec::new();
    for (better, high) in groups.iter().zip(&goodputs) {
        for (worse, low) in groups.iter().zip(&goodputs) {
            let key = only_difference(better.first(), worse.first());
            let (Some(key), Some(high), Some(low)) = (key, high, low) else {
                continue;
            };
            if *low > 0.0 && high / low > least {
                effects.push(Effect {
                    key,
                    worse,
                    better,
                    ratio: high / low,
                });
            }
        }
    }
    effects.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    effects
}

/// The factor in which two settings differ, if they differ in one only.
fn only_difference<'a>(a: &'a Row, b: &Row) -> Option<&'a str> {
    if a.direction != b.direction || a.layer != b.layer || a.name != b.name {
        return None;
    }
    let mut differ = a
        .factors
        .iter()
        .filter(|(k, v)| b.factors.get(*k) != Some(v));
    let first = differ.next()?;
    differ.next().is_none().then_some(first.0.as_str())
}
