//! Physical bounds of figures: no goodput above the capacity of the path, no round trip below its
//! propagation delay, no share outside of 0 to 1. An interval never extends beyond.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    net::{Direction, IpVersion, Layer},
    run::{FigureKind, Key, Sample},
};

use crate::figures::value;

/// A path on which figures have the same bounds.
type Place = (Layer, IpVersion);

/// Bounds of the figures of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    /// Maximum rate ever received in a direction, bit/s.
    carried: BTreeMap<(Place, Option<Direction>), f64>,
    /// Places at which a sweep measured the capacity.
    swept: BTreeSet<(Place, Option<Direction>)>,
    /// Shortest observed round trip, µs.
    propagation: BTreeMap<Place, f64>,
}

impl Bounds {
    /// From all valid samples.
    pub(crate) fn of(samples: &[Sample]) -> Self {
        let mut bounds = Self::default();
        for sample in samples.iter().filter(|s| s.valid) {
            let place = (sample.key.layer, sample.key.family);
            let goodput = value(sample, FigureKind::Goodput);
            let at = (place, sample.key.direction);
            if let Some(bps) = sample.capacity_bps {
                bounds.swept.insert(at);
                bounds.carries(at, bps);
            }
            if let Some(bps) = goodput {
                bounds.carries(at, bps);
            }
            let probed = sample.probes.as_ref().and_then(|p| p.min_us);
            let flows = sample.tcp.iter().flat_map(|tcp| &tcp.flows);
            for us in flows.filter_map(|flow| flow.min_rtt_us).chain(probed) {
                let least = bounds.propagation.entry(place).or_insert(us);
                *least = least.min(us);
            }
        }
        bounds
    }

    fn carries(&mut self, at: (Place, Option<Direction>), bps: f64) {
        let most = self.carried.entry(at).or_insert(bps);
        *most = most.max(bps);
    }

    /// Smallest and largest possible value of a figure. Without a sweep the capacity is not known,
    /// and a goodput has no upper bound.
    pub(crate) fn of_figure(&self, key: &Key, kind: FigureKind) -> [f64; 2] {
        let place = (key.layer, key.family);
        let most = match kind {
            FigureKind::Goodput => {
                let at = (place, key.direction);
                let carried = self.carried.get(&at).copied();
                carried.filter(|_| self.swept.contains(&at))
            }
            _ => None,
        };
        let least = match kind {
            FigureKind::RttP50
            | FigureKind::RttP95
            | FigureKind::RttP99
            | FigureKind::TcpRttP50
            | FigureKind::CompleteP50
            | FigureKind::CompleteP95 => self.propagation.get(&place).copied(),
            _ => None,
        };
        let largest = kind.unit().max();
        [least.unwrap_or(0.0), most.unwrap_or(largest).min(largest)]
    }
}
