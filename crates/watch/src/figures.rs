//! The watched figures of a path: one value for each hour of probes, or for each load.

use std::fmt;

use model::{
    net::{Direction, IpVersion, Layer},
    run::{FigureKind, Run, StepKind},
};
use serde::{Deserialize, Serialize};

/// Kind of a watched figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Watched {
    /// Round trip without load: median of an hour's probes, s.
    Rtt,
    /// Share of an hour's probes without an answer.
    Lost,
    /// Goodput of a load, bit/s.
    Goodput,
    /// What a load adds to the round trip: median beside it less the one without, s.
    Added,
}

impl Watched {
    /// Whether it comes from probes, and not from loads.
    pub fn is_of_probes(self) -> bool {
        matches!(self, Self::Rtt | Self::Lost)
    }
}

/// A watched figure of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Figure {
    /// Its kind.
    pub kind: Watched,
    /// The layer.
    pub layer: Layer,
    /// The address family.
    pub family: IpVersion,
    /// The direction of the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}

impl Figure {
    /// A value in the unit of people.
    pub fn show(&self, value: f64) -> String {
        match self.kind {
            Watched::Rtt | Watched::Added => format!("{:.2} ms", value * 1e3),
            Watched::Lost => format!("{:.2} %", value * 1e2),
            Watched::Goodput if value < 1e7 => format!("{:.2} Mbit/s", value / 1e6),
            Watched::Goodput => format!("{:.1} Mbit/s", value / 1e6),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Watched::Rtt => "RTT without load",
            Watched::Lost => "lost probes",
            Watched::Goodput => "goodput",
            Watched::Added => "delay added by a load",
        })?;
        if let Some(direction) = self.direction {
            write!(f, " {direction}")?;
        }
        write!(f, " ({}/{})", self.layer, self.family)
    }
}

/// Probes of one group on one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Probed {
    /// The layer.
    pub layer: Layer,
    /// The address family.
    pub family: IpVersion,
    /// Round trips of those that were answered, s.
    pub rtt_s: Vec<f64>,
    /// How many were not.
    pub lost: u64,
}

/// The watched figures of a run: means over the congestion controls of its loads by one flow in one
/// direction.
pub fn of_run(run: &Run) -> Vec<(Figure, f64)> {
    let mut found: Vec<(Figure, Vec<f64>)> = Vec::new();
    let loads = run.figures.iter().filter(|figure| {
        let key = &figure.key;
        key.step == StepKind::Tcp && key.flows == Some(1) && !key.bidirectional
    });
    for figure in loads {
        let (kind, value) = match figure.kind {
            FigureKind::Goodput => (Watched::Goodput, figure.spread.median),
            FigureKind::RttP50 => {
                let idle = idle_us(run, figure.key.layer, figure.key.family);
                let added = idle.map(|idle| (figure.spread.median - idle).max(0.0) / 1e6);
                (Watched::Added, added.unwrap_or(f64::NAN))
            }
            _ => continue,
        };
        if !value.is_finite() {
            continue;
        }
        let watched = Figure {
            kind,
            layer: figure.key.layer,
            family: figure.key.family,
            direction: figure.key.direction,
        };
        match found.iter_mut().find(|(own, _)| *own == watched) {
            Some((_, values)) => values.push(value),
            None => found.push((watched, vec![value])),
        }
    }
    let mean = |(figure, values): (Figure, Vec<f64>)| Some((figure, stats::mean(&values)?));
    found.into_iter().filter_map(mean).collect()
}

/// The round trip without load, µs.
fn idle_us(run: &Run, layer: Layer, family: IpVersion) -> Option<f64> {
    let of = |f: &&model::run::Figure| {
        f.key.step == StepKind::Idle
            && f.kind == FigureKind::RttP50
            && (f.key.layer, f.key.family) == (layer, family)
    };
    run.figures.iter().find(of).map(|f| f.spread.median)
}
