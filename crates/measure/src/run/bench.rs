//! State that the steps of a run share: the far end, results so far, and the receiver of events.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use analysis::pace::Line;
use model::{
    net::Direction,
    plan::Plan,
    run::{Key, LayerAddress, Sample},
};
use sys::clock::Instant;
use traffic::{admission::Lease, load::udp::Spacing};

use super::{budget::bytes_left, estimate::Estimate, third::Prober};
use crate::far::{Far, FarError};
use host::{evidence::Scope, state};

/// Event of a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The session is open.
    Planned {
        /// Estimate for the plan.
        estimate: Estimate,
        /// The layers.
        layers: &'a [LayerAddress],
        /// Version of the far program.
        far: &'a str,
    },
    /// Estimate for the plan, now that the path is known: more than was planned.
    Longer {
        /// Estimate for the plan.
        estimate: Estimate,
        /// The longest step, s.
        step_s: f64,
    },
    /// A step starts.
    Began {
        /// Its measurement.
        key: &'a Key,
        /// Number of the sample.
        number: u32,
        /// Samples in all, if the most repeats are run.
        of: usize,
        /// Number of the block; 0 = the steps that run once.
        block: u32,
    },
    /// A step is running.
    Live(Live),
    /// A step has ended.
    Ended(&'a Sample),
    /// A note for the user.
    Note(&'a str),
    /// The run has ended: payload bytes of its finished steps, both directions together.
    Moved(u64),
}

/// The state of a running step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Live {
    /// Payload rate of this end's half since the last event, bit/s.
    pub rate_bps: Option<f64>,
    /// Round trip of the latest probe, µs.
    pub rtt_us: Option<f64>,
    /// Share of unanswered probes so far.
    pub lost: Option<f64>,
    /// Time left in this step, s.
    pub step_left_s: f64,
    /// Time since the run started, s.
    pub run_s: f64,
    /// Payload bytes so far.
    pub bytes: u64,
}

/// State that a run has gathered for its steps.
pub(crate) struct Bench<'a> {
    pub(crate) far: Far,
    pub(crate) port: u16,
    pub(crate) zero: Instant,
    pub(crate) plan: &'a Plan,
    /// Pacing of datagrams.
    pub(crate) spacing: Spacing,
    pub(crate) cancel: &'a AtomicBool,
    /// Devices of this host whose counters are read.
    pub(crate) scope: Scope,
    /// Median idle round trip of a layer, µs.
    pub(crate) idle_us: HashMap<LayerAddress, f64>,
    /// Round trip of the control connection, µs.
    pub(crate) control_us: Option<f64>,
    /// Median round trip while more was offered than a layer carries in a direction, µs.
    pub(crate) loaded_us: HashMap<(LayerAddress, Direction), f64>,
    /// State that durations follow, since the first block.
    pub(crate) lines: HashMap<(LayerAddress, Direction), Line>,
    /// UDP payload that a layer carries in a direction, bit/s.
    pub(crate) capacity: HashMap<(LayerAddress, Direction), f64>,
    /// Largest IP packet that a layer carries.
    pub(crate) pmtu: HashMap<LayerAddress, u32>,
    /// Payload bytes in both directions so far.
    pub(crate) bytes: u64,
    /// When both sessions last showed that this end is still there.
    pub(crate) pinged: Instant,
    /// The third point, if one is probed.
    pub(crate) third: Option<Prober>,
    pub(crate) on: &'a mut dyn FnMut(Event<'_>),
}

impl Bench<'_> {
    /// Makes both hosts record their counters. The returned mark computes the increase of the near
    /// host's counters since then.
    pub(crate) fn mark(&mut self) -> Result<state::Mark, FarError> {
        self.far.mark(self.plan.hotspots)?;
        Ok(state::Mark::now(&self.scope, self.plan.hotspots))
    }

    /// Returns true if the run is to end.
    pub(crate) fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Limits of this end's half of a load: the bytes that the plan still allows, and the rate
    /// that the far end does.
    pub(crate) fn lease(&self, duration: Duration) -> Lease {
        let left = bytes_left(&self.plan.budget, self.bytes);
        Lease::own(duration, left, self.far.welcome.limits.rate_bps)
    }

    /// The far end's port on a layer.
    pub(crate) fn target(&self, layer: &LayerAddress) -> SocketAddr {
        SocketAddr::new(layer.far, self.port)
    }

    /// Sleeps, displays `sample`, and keeps the control connection open. Ends early when the run is
    /// cancelled.
    pub(crate) fn watch(
        &mut self,
        span: Duration,
        mut sample: impl FnMut() -> Live,
    ) -> Result<(), FarError> {
        const PIECE: Duration = Duration::from_millis(250);
        let end = Instant::now().after(span);
        while !self.cancelled() {
            let now = Instant::now();
            let left = end.since(now);
            if left <= 0 {
                break;
            }
            now.after(PIECE).min(end).wait();
            let mut live = sample();
            live.step_left_s = left as f64 / 1e9;
            live.run_s = now.since(self.zero) as f64 / 1e9;
            live.bytes += self.bytes;
            (self.on)(Event::Live(live));
            self.keep_alive()?;
        }
        if self.cancelled() {
            self.far.hurry();
        }
        Ok(())
    }

    /// Shows the far end and an agent that this end is still there, if that is due: a step may use
    /// neither session for longer than they wait.
    pub(crate) fn keep_alive(&mut self) -> Result<(), FarError> {
        const PING: Duration = Duration::from_secs(20);
        let now = Instant::now();
        if now < self.pinged.after(PING) {
            return Ok(());
        }
        self.far.ping()?;
        if let Some(third) = &mut self.third {
            third.ping();
        }
        self.pinged = now;
        Ok(())
    }

    /// Ends what a step that failed has left at the far end and an agent.
    pub(crate) fn abandon(&mut self) -> Result<(), FarError> {
        if let Some(third) = &mut self.third {
            third.abandon();
        }
        self.far.abandon()
    }

    /// µs since the run started.
    pub(crate) fn at_us(&self) -> u64 {
        self.us_at(Instant::now())
    }

    /// A point in time, µs since the run started.
    pub(crate) fn us_at(&self, at: Instant) -> u64 {
        (at.since(self.zero).max(0) / 1000) as u64
    }
}
