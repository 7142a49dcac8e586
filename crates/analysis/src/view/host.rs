//! One of the two hosts: its facts, and the increase of its counters.

use model::{
    evidence::{CounterKind, Evidence, ThreadRole, ThreadUse},
    facts::{DeviceFacts, HostFacts, PathFacts, TunnelFacts, TunnelPath},
    net::{Layer, Side},
    run::{Run, Sample},
};

use super::{DirectionView, View};
use crate::processor;

/// One of the two hosts.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a> {
    /// Side of the path.
    pub side: Side,
    /// Facts.
    pub facts: &'a HostFacts,
    /// Facts after the measurement, if different.
    after: Option<&'a HostFacts>,
    /// True if every requested tunnel answered.
    tunnel_reached: bool,
    view: View<'a>,
}

impl<'a> View<'a> {
    /// One of the two hosts.
    pub fn host(&self, side: Side) -> Host<'a> {
        Host::new(self.run, *self, side)
    }
}

impl<'a> DirectionView<'a> {
    /// The host that sends.
    pub fn sender(&self) -> Host<'a> {
        self.view.host(Side::sends(self.direction))
    }

    /// The host that receives.
    pub fn receiver(&self) -> Host<'a> {
        self.view.host(Side::receives(self.direction))
    }
}

impl<'a> Host<'a> {
    fn new(run: &'a Run, view: View<'a>, side: Side) -> Self {
        let end = match side {
            Side::Near => &run.near,
            Side::Far => &run.far,
        };
        Self {
            side,
            facts: &end.facts,
            after: end.facts_after.as_ref(),
            tunnel_reached: run.unreached.iter().all(|u| u.layer != Layer::Tunnel),
            view,
        }
    }

    /// The view it belongs to.
    pub fn view(&self) -> View<'a> {
        self.view
    }

    /// Congestion control that new sockets get.
    pub fn default_cc(&self) -> Option<String> {
        self.facts.congestion.default.clone()
    }

    /// Its counters of a sample.
    pub fn evidence(&self, sample: &'a Sample) -> Option<&'a Evidence> {
        match self.side {
            Side::Near => sample.near.as_ref(),
            Side::Far => sample.far.as_ref(),
        }
    }

    /// Increase, over several samples, of all counters of a kind; `None` if their group was read in
    /// none of them.
    pub fn counter_increase(&self, samples: &[&'a Sample], kind: CounterKind) -> Option<f64> {
        let read = |e: &&Evidence| e.groups.iter().any(|g| kind.group().includes(g));
        let mut all = samples
            .iter()
            .filter_map(|s| self.evidence(s))
            .filter(read)
            .peekable();
        all.peek()?;
        let of = |e: &Evidence| -> f64 {
            let counters = e.counters.iter().filter(|(name, _)| kind.includes(name));
            counters.map(|(_, by)| *by as f64).sum()
        };
        Some(all.map(of).sum())
    }

    /// Median over the samples of the busy share of the busiest processor, and that processor's
    /// share in softirqs.
    pub fn busiest_core(&self, samples: &[&'a Sample]) -> Option<(f64, f64)> {
        let of = |s: &&'a Sample| {
            let most = processor::busiest_core(self.evidence(s)?)?;
            Some((1.0 - most.idle, most.softirq))
        };
        let values: Vec<(f64, f64)> = samples.iter().filter_map(of).collect();
        let busy: Vec<f64> = values.iter().map(|v| v.0).collect();
        let softirq: Vec<f64> = values.iter().map(|v| v.1).collect();
        Some((stats::median(&busy)?, stats::median(&softirq)?))
    }

    /// The threads of a sample, with the evidence that they belong to.
    fn threads(&self, sample: &'a Sample) -> Option<(&'a Evidence, &'a [ThreadUse])> {
        let evidence = self.evidence(sample)?;
        Some((evidence, processor::threads(evidence)?))
    }

    /// Median over the samples of the processor share of the tunnel's busiest thread, with its
    /// name.
    pub fn tunnel_thread(&self, samples: &[&'a Sample]) -> Option<(f64, String)> {
        let of = |s: &&'a Sample| {
            let (evidence, threads) = self.threads(s)?;
            let ours = threads.iter().filter(|t| t.role == ThreadRole::Tunnel);
            let used = ours.map(|t| (processor::used_s(t), &t.name));
            let most = used.max_by(|a, b| a.0.total_cmp(&b.0))?;
            Some((most.0 / processor::interval_s(evidence)?, most.1.clone()))
        };
        let values: Vec<(f64, String)> = samples.iter().filter_map(of).collect();
        let shares: Vec<f64> = values.iter().map(|v| v.0).collect();
        Some((stats::median(&shares)?, values.into_iter().next()?.1))
    }

    /// Median over the samples of the processors that the tunnel's process used: of how many, by
    /// how many threads, and the name of the process. Go spreads one process over many threads.
    pub fn tunnel_process(&self, samples: &[&'a Sample]) -> Option<(f64, usize, String)> {
        let used = self.cores_used(samples, |role| role == ThreadRole::Tunnel)?;
        let of_tunnel = |s: &&'a Sample| {
            let (_, threads) = self.threads(s)?;
            let ours = || threads.iter().filter(|t| t.role == ThreadRole::Tunnel);
            Some((ours().count(), &ours().next()?.name))
        };
        let threads: Vec<_> = samples.iter().filter_map(of_tunnel).collect();
        let (_, name) = threads.first()?;
        let most = threads.iter().map(|(count, _)| *count).max()?;
        Some((used, most, (*name).clone()))
    }

    /// Number of online processors, over which the tunnel's process may spread its threads.
    pub fn processors(&self, samples: &[&'a Sample]) -> Option<usize> {
        let of = |s: &&'a Sample| Some(self.evidence(s)?.cpu.as_ref()?.cores.len());
        samples.iter().filter_map(of).max()
    }

    /// Median over the samples of the processors used by the measured traffic outside of softirqs:
    /// the tunnel's process, WireGuard in the kernel and this program. `None` where no thread was
    /// seen.
    pub fn path_cores(&self, samples: &[&'a Sample]) -> Option<f64> {
        self.cores_used(samples, |_| true)
    }

    /// Median over the samples of the processors that threads of some roles used together.
    fn cores_used(
        &self,
        samples: &[&'a Sample],
        wanted: impl Fn(ThreadRole) -> bool,
    ) -> Option<f64> {
        let of = |s: &&'a Sample| processor::cores_used(self.evidence(s)?, &wanted);
        let used: Vec<f64> = samples.iter().filter_map(of).collect();
        stats::median(&used)
    }

    /// Median over the samples of the busy share of the least busy processor.
    pub fn idlest_core(&self, samples: &[&'a Sample]) -> Option<f64> {
        let of = |s: &&'a Sample| processor::idlest_core(self.evidence(s)?);
        let busy: Vec<f64> = samples.iter().filter_map(of).collect();
        stats::median(&busy)
    }

    /// Returns true if the measured traffic had to wait for a processor, by the medians over the
    /// samples.
    pub fn starved(&self, samples: &[&'a Sample]) -> bool {
        let of = |s: &&'a Sample| processor::longest_wait(self.evidence(s)?);
        let waits: Vec<f64> = samples.iter().filter_map(of).collect();
        processor::starved(stats::median(&waits), self.idlest_core(samples))
    }

    /// Largest number of bytes that waited in its own devices at the end of one of the samples.
    pub fn backlog_bytes(&self, samples: &[&'a Sample]) -> Option<f64> {
        let of = |s: &&'a Sample| {
            let levels = &self.evidence(s)?.levels;
            let waiting = levels
                .iter()
                .filter(|(name, _)| CounterKind::Backlog.includes(name));
            waiting.map(|(_, bytes)| *bytes as f64).reduce(f64::max)
        };
        samples.iter().filter_map(of).reduce(f64::max)
    }

    /// The device that sends to the other end on the lowest layer: where packets leave the host.
    pub fn device(&self) -> Option<&'a DeviceFacts> {
        let layers = &self.facts.path.as_ref()?.layers;
        layers.iter().rev().find_map(|l| l.devices.last())
    }

    /// The tunnel that the traffic enters first. A tunnel that was idle when the facts were taken
    /// had no connection yet (Tailscale is idle 45 s after the last packet, NetBird until the first
    /// one): then it is the tunnel in the facts after the measurement.
    pub fn tunnel(&self) -> Option<&'a TunnelFacts> {
        let before = self.facts.path.as_ref()?.tunnel()?;
        if !matches!(before.path, None | Some(TunnelPath::Idle)) {
            return Some(before);
        }
        let after = self.after.and_then(|facts| facts.path.as_ref()?.tunnel());
        Some(after.unwrap_or(before))
    }

    /// The tunnel that the traffic enters first, by the facts after the measurement.
    pub fn tunnel_after(&self) -> Option<&'a TunnelFacts> {
        let facts = self.after.unwrap_or(self.facts);
        facts.path.as_ref()?.tunnel()
    }

    /// The path to the other end by the facts; `None` if they name neither device nor tunnel on it,
    /// for instance because the address had no route.
    pub fn path(&self) -> Option<&'a PathFacts> {
        let path = self.facts.path.as_ref()?;
        let known = path.devices().next().is_some() || path.tunnel().is_some();
        known.then_some(path)
    }

    /// Returns true if both ends are this host, whose processors are then the path.
    pub fn is_both_ends(&self) -> bool {
        let route = self
            .path()
            .and_then(|path| path.layers.first()?.route.as_ref());
        route.is_some_and(|route| route.local)
    }

    /// Returns true if it is known whether there is a tunnel: not if the address in it was not
    /// reached.
    pub fn path_known(&self) -> bool {
        self.tunnel_reached && self.path().is_some()
    }
}
