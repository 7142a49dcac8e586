//! Rates that change over time.

use std::time::Duration;

use model::cell::Line;
use sys::{
    NetlinkError,
    clock::Instant,
    tc::{self, Handle},
};

use crate::queues::{self, AttachedQueue, Timers};

/// The changes of one bottleneck.
#[derive(Clone, Debug)]
pub(crate) struct RateChanges {
    /// Index of its host.
    pub(crate) host: usize,
    /// Index of its device.
    device: u32,
    /// Its shaper from a point in time on.
    changes: Vec<(Duration, AttachedQueue)>,
    /// After this span the changes start again.
    repeat: Option<Duration>,
}

impl RateChanges {
    /// The changes of a line whose bottleneck is on this device; none if its rate is constant.
    pub(crate) fn of(
        line: &Line,
        mtu: u32,
        timers: Timers,
        host: usize,
        device: u32,
    ) -> Option<Self> {
        let steps = line.rate_steps.as_ref()?;
        let change = |step: &model::cell::RateStep| {
            Some((step.at, queues::at_rate(line, step.rate, mtu, timers)?))
        };
        Some(Self {
            host,
            device,
            changes: steps.steps.iter().filter_map(change).collect(),
            repeat: steps.repeat,
        })
    }

    /// Makes the changes at their times, counted from `zero`; without end if they repeat.
    pub(crate) fn run(&self, nl: &mut sys::Netlink, zero: Instant) -> Result<(), NetlinkError> {
        let mut begin = zero;
        loop {
            for (at, shaper) in &self.changes {
                begin.after(*at).wait();
                let AttachedQueue { handle, qdisc, .. } = shaper;
                tc::change(nl, self.device, Handle::ROOT, *handle, qdisc)?;
            }
            match self.repeat {
                Some(span) => begin = begin.after(span),
                None => return Ok(()),
            }
        }
    }
}
