//! View of a Run for the rules: by layer, direction and host, with repeats taken together.

mod capacity;
mod delay;
mod host;
mod idle;
mod load;
mod overload;
mod queue;
mod segments;
mod start;
mod steady;
mod sweep;
mod tunnel;
mod wire;

use model::{
    net::{Direction, IpVersion, Layer},
    run::{FigureKind, Invalid, Key, Pmtu, Probes, Run, Sample, SizeStep, StepKind, ThirdPoint},
};

use crate::summary;

pub use capacity::Capacity;
pub use host::Host;
pub use load::Load;
pub use overload::{Burst, Taken};
pub use queue::{Overflow, Rises};
pub use segments::{Lost, Segment, Segments, Share};
pub use start::SlowStart;
pub use steady::Steady;
pub use sweep::{Above, Datagrams, Sweep};

/// A Run on one layer and address family. It contains what a measurement can see, and nothing about
/// how a lab path was built.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    run: &'a Run,
    /// The layer that is judged.
    pub layer: Layer,
    /// The address family that is judged.
    pub family: IpVersion,
}

/// One direction of a view.
#[derive(Clone, Copy, Debug)]
pub struct DirectionView<'a> {
    /// The view.
    pub view: View<'a>,
    /// The direction of the data.
    pub direction: Direction,
}

/// Latency without load.
#[derive(Clone, Debug)]
pub struct Idle {
    /// Numbers of the samples.
    pub samples: Vec<u32>,
    /// Smallest round trip of any sample, µs.
    pub min_us: f64,
    /// The figure `rtt_p50_us`: median over the samples, µs.
    pub p50_us: f64,
    /// The figure `rtt_p95_us`, µs.
    pub p95_us: Option<f64>,
    /// The figure `rtt_p99_us`, µs.
    pub p99_us: Option<f64>,
    /// Probes sent.
    pub sent: f64,
    /// Probes without an answer.
    pub lost: f64,
}

impl Idle {
    /// Variation of the idle round trip, µs: its 95th percentile less its median.
    pub fn variation_us(&self) -> Option<f64> {
        Some(self.p95_us? - self.p50_us)
    }

    /// Range of the idle round trip, µs: its 95th percentile less its smallest.
    pub fn range_us(&self) -> Option<f64> {
        Some(self.p95_us? - self.min_us)
    }
}

impl<'a> View<'a> {
    /// The tunnel if it was measured, else the path itself; `None` if nothing valid was measured.
    pub fn new(run: &'a Run) -> Option<Self> {
        let valid = || run.samples.iter().filter(|s| counts(s));
        let layer = valid().map(|s| s.key.layer).max()?;
        let family = valid()
            .filter(|s| s.key.layer == layer)
            .map(|s| s.key.family)
            .min()?;
        Some(Self::on(run, layer, family))
    }

    /// A layer and an address family of a Run, whether or not it was measured there.
    pub fn on(run: &'a Run, layer: Layer, family: IpVersion) -> Self {
        Self { run, layer, family }
    }

    /// The path below the tunnel, if this is the tunnel and the path was measured, too.
    pub fn underlay(&self) -> Option<Self> {
        let layer = Layer::Underlay;
        let found = self
            .run
            .samples
            .iter()
            .find(|s| counts(s) && s.key.layer == layer);
        let family = found.map(|s| s.key.family)?;
        (self.layer == Layer::Tunnel).then_some(Self {
            layer,
            family,
            ..*self
        })
    }

    /// One direction.
    pub fn direction(&self, direction: Direction) -> DirectionView<'a> {
        DirectionView {
            view: *self,
            direction,
        }
    }

    /// The directions in which TCP or UDP was measured.
    pub fn directions(&self) -> Vec<DirectionView<'a>> {
        [Direction::Down, Direction::Up]
            .map(|direction| self.direction(direction))
            .into_iter()
            .filter(|direction| direction.samples(|_| true).next().is_some())
            .collect()
    }

    /// Returns true if the ends were on a lab path: then nothing can be concluded about processors.
    pub fn lab(&self) -> bool {
        self.run.lab
    }

    /// The third point that was probed beside the path, if any.
    pub fn third(&self) -> Option<&'a ThirdPoint> {
        self.run.third.as_ref()
    }

    /// The samples of this layer and family that count (see `counts`).
    pub fn samples(&self) -> impl Iterator<Item = &'a Sample> + use<'a> {
        let (layer, family) = (self.layer, self.family);
        let ours = move |s: &&Sample| counts(s) && s.key.layer == layer && s.key.family == family;
        self.run.samples.iter().filter(ours)
    }

    /// Returns the reasons for samples of this layer not to count.
    pub fn invalid_reasons(&self) -> impl Iterator<Item = &'a Invalid> + use<'a> {
        let layer = self.layer;
        let ours = self
            .run
            .samples
            .iter()
            .filter(move |s| s.key.layer == layer);
        ours.flat_map(|s| &s.invalid)
    }

    /// All samples of TCP, both directions.
    pub fn tcp_samples(&self) -> Vec<&'a Sample> {
        self.samples()
            .filter(|s| s.key.step == StepKind::Tcp)
            .collect()
    }

    /// The search for the path MTU.
    pub fn pmtu(&self) -> Option<&'a Pmtu> {
        self.samples().find_map(|s| s.pmtu.as_ref())
    }

    /// Latency without load.
    pub fn idle(&self) -> Option<Idle> {
        let samples: Vec<&Sample> = self
            .samples()
            .filter(|s| s.key.step == StepKind::Idle)
            .collect();
        let probes: Vec<&Probes> = samples.iter().filter_map(|s| s.probes.as_ref()).collect();
        let smallest = probes.iter().filter_map(|p| p.min_us.or(p.p50_us));
        let figure = |kind| summary::median(&samples, kind);
        Some(Idle {
            samples: samples.iter().map(|s| s.number).collect(),
            min_us: smallest.reduce(f64::min)?,
            p50_us: figure(FigureKind::RttP50)?,
            p95_us: figure(FigureKind::RttP95),
            p99_us: figure(FigureKind::RttP99),
            sent: probes.iter().map(|p| p.sent as f64).sum(),
            lost: probes
                .iter()
                .map(|p| p.sent.saturating_sub(p.n) as f64)
                .sum(),
        })
    }
}

impl<'a> DirectionView<'a> {
    /// The valid samples of this direction, without load in the other one.
    fn samples(&self, of: impl Fn(&Key) -> bool) -> impl Iterator<Item = &'a Sample> {
        let direction = Some(self.direction);
        let ours =
            move |s: &&Sample| s.key.direction == direction && !s.key.bidirectional && of(&s.key);
        self.view.samples().filter(ours)
    }

    /// The same direction of the path below the tunnel.
    pub fn underlay(&self) -> Option<Self> {
        Some(self.view.underlay()?.direction(self.direction))
    }

    /// The other direction.
    pub fn reverse(&self) -> Self {
        let direction = match self.direction {
            Direction::Down => Direction::Up,
            Direction::Up => Direction::Down,
        };
        Self { direction, ..*self }
    }

    /// All TCP loads of this direction, by congestion control and number of flows.
    pub fn loads(&self) -> Vec<Load> {
        let mut kinds: Vec<(String, u32)> = Vec::new();
        let tcp: Vec<&Sample> = self.samples(|k| k.step == StepKind::Tcp).collect();
        for sample in &tcp {
            let kind = kind_of(sample);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let of = |(cc, flows): &(String, u32)| {
            let same = |s: &&&Sample| kind_of(s) == (cc.clone(), *flows);
            let samples: Vec<&Sample> = tcp.iter().filter(same).copied().collect();
            Load::of(cc, *flows, &samples)
        };
        kinds.iter().filter_map(of).collect()
    }

    /// The load with the fewest flows under the sender's default congestion control: the result of
    /// a program that sets no options. Without facts of the sender, one under a loss-based
    /// congestion control, the default of all systems.
    pub fn default_load(&self) -> Option<Load> {
        let loads = self.loads();
        let fewest = loads.iter().map(|l| l.flows).min()?;
        let own = self.sender().default_cc();
        let rank = |load: &&Load| {
            let cc = load.cc.as_str();
            (
                load.flows != fewest,
                own.as_deref() != Some(cc),
                cc != "cubic",
                cc != "reno",
            )
        };
        loads.iter().min_by_key(rank).cloned()
    }

    /// The loads with the fewest flows, by congestion control.
    pub fn single_loads(&self) -> Vec<Load> {
        let mut loads = self.loads();
        let fewest = loads.iter().map(|l| l.flows).min();
        loads.retain(|l| Some(l.flows) == fewest);
        loads.sort_by(|a, b| a.cc.cmp(&b.cc));
        loads
    }

    /// The load with one flow (or the fewest) under a congestion control.
    pub fn load_with(&self, cc: &str) -> Option<Load> {
        let loads = self.loads();
        let same = loads.into_iter().filter(|l| l.cc == cc);
        same.min_by_key(|l| l.flows)
    }

    /// The load with the most flows under the congestion control of
    /// [`DirectionView::default_load`], if that is more.
    pub fn parallel_load(&self) -> Option<Load> {
        let plain = self.default_load()?;
        let loads = self.loads();
        let more = loads
            .into_iter()
            .filter(|l| l.cc == plain.cc && l.flows > plain.flows);
        more.max_by_key(|l| l.flows)
    }

    /// Datagrams sent and received by size, the smallest first.
    pub fn sizes(&self) -> Vec<SizeStep> {
        let all = self.view.samples().flat_map(|s| &s.sizes);
        let mut steps: Vec<SizeStep> = all
            .filter(|s| s.direction == self.direction)
            .copied()
            .collect();
        steps.sort_by_key(|s| s.packet);
        steps
    }

    /// TCP segments retransmitted in this direction, all loads together.
    pub fn retransmits(&self) -> Option<f64> {
        let loads = self.loads();
        let values: Vec<f64> = loads.iter().filter_map(|l| l.retransmits).collect();
        (!values.is_empty()).then(|| values.iter().sum())
    }

    /// UDP at rising rates.
    pub fn sweep(&self) -> Option<Sweep> {
        let sweeps: Vec<&Sample> = self.samples(|k| k.step == StepKind::UdpSweep).collect();
        let rates: Vec<&Sample> = self.samples(|k| k.step == StepKind::Udp).collect();
        let tcp_bps = self.carried_by_tcp_bps().reduce(f64::max);
        Sweep::of(&sweeps, &rates, tcp_bps)
    }

    /// Goodput of a load over that of another, from the ratios of the blocks in which both ran, as
    /// the ratios of the Run ([`summary::ratio`]); `None` if the other has none.
    pub fn gain(&self, of: &Load, over: &Load) -> Option<f64> {
        let (above, below) = (self.samples_of(of), self.samples_of(over));
        let found = summary::ratio(&above, &below, FigureKind::Goodput)?;
        Some(found.value)
    }

    /// The samples of TCP in this direction, for the hosts' counters.
    pub fn tcp_samples(&self) -> Vec<&'a Sample> {
        self.samples(|k| k.step == StepKind::Tcp).collect()
    }

    /// The samples of one load.
    pub fn samples_of(&self, load: &Load) -> Vec<&'a Sample> {
        let ours = |s: &&Sample| load.samples.contains(&s.number);
        self.tcp_samples().into_iter().filter(ours).collect()
    }
}

/// Congestion control and flows of a sample; the congestion control used by the socket counts, not
/// the requested one.
fn kind_of(sample: &Sample) -> (String, u32) {
    let used = sample.tcp.as_ref().and_then(|t| t.cc_used.clone());
    let cc = used.or_else(|| sample.key.cc.clone()).unwrap_or_default();
    (cc, sample.key.flows.unwrap_or(1))
}

/// Returns true if a sample shows what limits the path: it is valid, or invalid only because a
/// processor, not the line, limited the rate, which is a cause, too.
fn counts(sample: &Sample) -> bool {
    let processor = |why: &Invalid| {
        matches!(
            why,
            Invalid::SenderProcessor { .. } | Invalid::ReceiverProcessor { .. }
        )
    };
    sample.valid || (!sample.invalid.is_empty() && sample.invalid.iter().all(processor))
}
