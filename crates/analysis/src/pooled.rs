//! Intervals of a few repeats by the spread of like steps: those that measure one quantity on one
//! layer in one direction, with another congestion control or number of flows.

use std::collections::BTreeMap;

use model::run::{FigureKind, Key, Pooled, Unit};

/// What like steps have in common.
pub(crate) fn step(key: &Key) -> Key {
    Key {
        flows: None,
        cc: None,
        ..key.clone()
    }
}

/// The interval of each set of values by the spread of all sets with the same name; `None` of a
/// set of `enough`, which has an interval of its own, and of shares, whose spread depends on their
/// value.
pub(crate) fn intervals<K: Ord>(
    sets: &[(K, FigureKind, &[f64])],
    enough: usize,
) -> Vec<Option<Pooled>> {
    let mut groups: BTreeMap<(&K, FigureKind), Vec<usize>> = BTreeMap::new();
    for (at, (name, kind, _)) in sets.iter().enumerate() {
        if kind.unit() != Unit::Share {
            groups.entry((name, *kind)).or_default().push(at);
        }
    }
    let mut intervals = vec![None; sets.len()];
    for group in groups.values() {
        let values: Vec<&[f64]> = group.iter().map(|at| sets[*at].2).collect();
        for (at, found) in group.iter().zip(stats::pooled(&values)) {
            intervals[*at] = found.filter(|_| sets[*at].2.len() < enough).map(stated);
        }
    }
    intervals
}

fn stated(found: stats::Pooled) -> Pooled {
    Pooled {
        low: found.interval.low,
        high: found.interval.high,
        freedom: found.freedom,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::{net::Layer, run::Sample};
    use serde_json::json;

    use crate::summary::{figures, ratios};

    /// A sample of TCP downwards.
    fn tcp(layer: Layer, cc: &str, block: u32, mbps: f64) -> Sample {
        let key = json!({
            "step": "tcp", "layer": layer, "family": "v4", "direction": "down", "flows": 1, "cc": cc,
        });
        let tcp = json!({"goodput_bps": mbps * 1e6, "window_us": [0, 1_000_000], "bytes": 1, "flows": []});
        let sample = json!({
            "number": 0, "key": key, "block": block, "at_us": block, "took_us": 1, "valid": true,
            "tcp": tcp,
        });
        serde_json::from_value(sample).unwrap()
    }

    /// Blocks of cubic and BBR on a layer.
    fn layer(layer: Layer, cubic: &[f64], bbr: &[f64]) -> Vec<Sample> {
        let of = |cc: &'static str, values: &[f64]| {
            let blocks = (1..).zip(values.to_vec());
            let samples = blocks.map(move |(block, mbps)| tcp(layer, cc, block, mbps));
            samples.collect::<Vec<_>>()
        };
        [of("cubic", cubic), of("bbr", bbr)].concat()
    }

    #[test]
    fn three_repeats_of_cubic_and_of_bbr_share_their_spread() {
        let samples = layer(Layer::Underlay, &[19.0, 18.2, 18.6], &[19.4, 19.0, 18.7]);
        let figures = figures(&samples);
        assert_eq!(figures.len(), 2);
        for figure in figures {
            let spread = figure.spread;
            let (pooled, range) = (spread.pooled.unwrap(), spread.range.unwrap());
            assert_eq!((spread.low, spread.high, pooled.freedom), (None, None, 4));
            assert!(
                pooled.low < range.low && range.high < pooled.high,
                "{spread:?}"
            );
            assert!(pooled.high < 1.1 * pooled.low, "{spread:?}");
        }
    }

    #[test]
    fn five_repeats_have_an_interval_of_their_own_and_help_three() {
        let samples = layer(
            Layer::Underlay,
            &[19.0, 18.2, 18.6],
            &[19.4, 19.0, 18.7, 18.9, 19.2],
        );
        let figures = figures(&samples);
        let of = |n| figures.iter().find(|f| f.spread.n == n).unwrap().spread;
        assert!(of(5).low.is_some() && of(5).pooled.is_none());
        assert_eq!(of(3).pooled.unwrap().freedom, 6);
    }

    /// Between a tunnel of 10 Mbit/s and its path of 100 Mbit/s nothing is alike.
    #[test]
    fn layers_are_not_pooled() {
        let mut samples = layer(Layer::Underlay, &[99.0, 98.0, 99.5], &[]);
        samples.extend(layer(Layer::Tunnel, &[10.0, 9.0, 9.5], &[]));
        let figures = figures(&samples);
        assert_eq!(figures.len(), 2);
        assert!(figures.iter().all(|f| f.spread.pooled.is_none()));
    }

    /// On a line of 100 Mbit/s, three samples gave `22.4 [0.15, 2560] Mbit/s`.
    #[test]
    fn a_goodput_that_scatters_by_factors_on_a_line_of_100_mbps_has_a_range_only() {
        let seen = [3.1, 22.4, 94.0];
        for bbr in [&seen[..], &[20.0, 25.0, 22.0], &[94.0, 94.1, 94.2]] {
            let samples = layer(Layer::Underlay, &seen, bbr);
            let figures = figures(&samples);
            let cubic = figures
                .iter()
                .find(|f| f.key.cc.as_deref() == Some("cubic"));
            let spread = cubic.unwrap().spread;
            assert_eq!((spread.low, spread.high, spread.pooled), (None, None, None));
            let range = spread.range.unwrap();
            assert_eq!([range.low, range.high], [3.1e6, 94e6]);
        }
    }

    #[test]
    fn an_interval_by_a_pooled_spread_ends_at_the_capacity() {
        let mut samples = layer(Layer::Underlay, &[94.0, 80.0, 93.0], &[93.9, 85.0, 94.0]);
        for figure in figures(&samples) {
            assert!(figure.spread.pooled.unwrap().high > 95e6, "{figure:?}");
        }
        let mut sweep = tcp(Layer::Underlay, "cubic", 0, 1.0);
        sweep.tcp = None;
        sweep.key.step = model::run::StepKind::UdpSweep;
        sweep.capacity_bps = Some(95e6);
        samples.push(sweep);
        let figures = figures(&samples);
        let mut pooled = figures.iter().filter_map(|f| f.spread.pooled);
        assert!(pooled.clone().count() == 2 && pooled.all(|p| p.high == 95e6));
    }

    /// A headline tile showed the ratio `0.471 [0.006, 84]`.
    #[test]
    fn a_ratio_of_three_blocks_has_the_interval_of_both_congestion_controls_or_a_range_only() {
        let ratio = |blocks: [f64; 3]| {
            let path = [20.0, 19.0, 21.0];
            let inside: Vec<f64> = path.iter().zip(blocks).map(|(p, r)| p * r).collect();
            let mut samples = layer(Layer::Underlay, &path, &path);
            samples.extend(layer(Layer::Tunnel, &inside, &inside));
            let ratios = ratios(&samples);
            let of = |r: &&model::run::Ratio| r.of.layer != r.to.layer;
            ratios.iter().find(of).unwrap().clone()
        };
        let calm = ratio([0.47, 0.46, 0.48]);
        let pooled = calm.pooled.unwrap();
        assert_eq!((calm.low, pooled.freedom), (None, 4));
        assert!(0.44 < pooled.low && pooled.high < 0.5, "{pooled:?}");
        let seen = ratio([0.06, 0.471, 3.7]);
        assert_eq!((seen.low, seen.high, seen.pooled), (None, None, None));
        assert!(seen.range.is_some());
    }
}
