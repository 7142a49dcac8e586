//! Throughput over loss: measurements and theory.

use crate::{
    curve::Curve,
    models::ETHERNET_MSS,
    repeats::Summary,
    view::{DirectionView, Load},
};

/// Loss at which a setting of the lab without any is drawn.
pub const MIN_LOSS: f64 = 1e-5;

/// One measured setting.
#[derive(Clone, Debug, PartialEq)]
pub struct LossPoint {
    /// Congestion control that was used.
    pub cc: Option<String>,
    /// Share of packets that were lost; if none was, that of one packet.
    pub loss: f64,
    /// True if none was lost.
    pub none: bool,
    /// Goodput, bit/s.
    pub goodput_bps: f64,
    /// Its 95 % interval, bit/s; absent of fewer than five repeats.
    pub interval_bps: Option<(f64, f64)>,
    /// The model at this loss, bit/s.
    pub model_bps: Option<f64>,
}

impl LossPoint {
    /// Measured over model.
    pub fn over_model(&self) -> Option<f64> {
        let model = self.model_bps.filter(|bps| *bps > 0.0)?;
        Some(self.goodput_bps / model)
    }

    /// A load of a Run, at the loss that its sender saw ([`Load::loss`]); `None` if that is not
    /// known.
    pub fn of_load(load: &Load, curves: &[Curve]) -> Option<Self> {
        let seen = load.loss()?;
        let none = seen <= 0.0;
        let loss = if none { 1.0 / load.segments? } else { seen };
        let curve = curves.iter().find(|c| c.cc == load.cc);
        Some(Self {
            cc: Some(load.cc.clone()),
            loss,
            none,
            goodput_bps: load.goodput_bps,
            interval_bps: load.goodput_interval_bps(),
            model_bps: curve.and_then(|c| c.at(loss)),
        })
    }

    /// A setting of the lab, at the loss of its path, with the curve of its congestion control on a
    /// path that carries `capacity_bps` of payload.
    fn of_setting(group: &Summary<'_>, capacity_bps: f64) -> Option<(Self, Option<Curve>)> {
        let first = group.first();
        let goodput = group.spread(|r| r.goodput_mbps)?;
        let seen = group.spread(|r| r.true_loss).map_or(0.0, |s| s.median);
        let none = seen <= 0.0;
        let loss = if none { MIN_LOSS } else { seen };
        let rtt = group.spread(|r| r.tcp_rtt_p50_ms);
        let curve = rtt.zip(first.cc_used.clone()).and_then(|(rtt, cc)| {
            Curve {
                cc,
                rtt_s: rtt.median / 1e3,
                mss: ETHERNET_MSS,
                flows: first.flows as f64,
                capacity_bps,
            }
            .known()
        });
        let point = Self {
            cc: first.cc_used.clone(),
            loss,
            none,
            goodput_bps: goodput.median * 1e6,
            interval_bps: goodput.interval.map(|i| (i.low * 1e6, i.high * 1e6)),
            model_bps: curve.as_ref().and_then(|c| c.at(loss)),
        };
        Some((point, curve))
    }
}

/// The curves of a direction: of each load with the fewest flows.
pub fn curves(dir: &DirectionView<'_>) -> Vec<Curve> {
    let loads = dir.single_loads();
    loads
        .iter()
        .filter_map(|load| Curve::of(dir, load))
        .collect()
}

/// Ratio of the highest to the lowest loss from which settings count as having several losses:
/// below, it is one loss that varies by chance.
const SEVERAL: f64 = 1.5;

/// Returns true if settings have different losses, so that a curve can be drawn.
pub fn are_several<'a>(points: impl Iterator<Item = &'a LossPoint>) -> bool {
    let losses: Vec<f64> = points.filter(|p| !p.none).map(|p| p.loss).collect();
    let (low, high) = (
        losses.iter().copied().reduce(f64::min),
        losses.iter().copied().reduce(f64::max),
    );
    low.zip(high)
        .is_some_and(|(low, high)| high >= SEVERAL * low)
}

/// Returns true if a factor of a matrix is the loss of the path, in one direction or both.
pub fn is_factor(key: &str) -> bool {
    model::spec::is_loss(key)
}

/// The settings of a matrix, each with its point, and one curve for each congestion control. The
/// capacity of the path is assumed to be the highest goodput of the matrix: rows know no other.
pub fn of_settings<'a>(
    groups: &'a [Summary<'a>],
) -> (Vec<(&'a Summary<'a>, LossPoint)>, Vec<Curve>) {
    let goodputs = groups.iter().flat_map(|g| &g.rows);
    let highest = goodputs.filter_map(|r| r.goodput_mbps).fold(0.0, f64::max);
    let mut points = Vec::new();
    let mut curves: Vec<Curve> = Vec::new();
    for group in groups {
        let Some((point, curve)) = LossPoint::of_setting(group, highest * 1e6) else {
            continue;
        };
        points.push((group, point));
        curves.extend(curve.filter(|c| !curves.iter().any(|known| known.cc == c.cc)));
    }
    (points, curves)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(loss: f64) -> LossPoint {
        LossPoint {
            cc: None,
            loss,
            none: loss == 0.0,
            goodput_bps: 1.0,
            interval_bps: None,
            model_bps: None,
        }
    }

    #[test]
    fn one_loss_that_varies_by_chance_is_not_several() {
        let several = |losses: &[f64]| {
            let points: Vec<LossPoint> = losses.iter().copied().map(point).collect();
            are_several(points.iter())
        };
        assert!(!several(&[0.0, 0.010, 0.014]) && several(&[0.01, 0.02]));
        assert!(!several(&[0.0]) && !several(&[]));
    }

    /// The report used to detect it by the suffix of the name.
    #[test]
    fn a_factor_is_loss_by_its_key_and_not_by_the_end_of_its_name() {
        assert!(is_factor("path.loss") && is_factor("path.down.loss"));
        assert!(!is_factor("path.rate") && !is_factor("ends.loss") && !is_factor("loss"));
    }
}
