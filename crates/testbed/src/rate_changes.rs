//! Rates that change over time.

use std::time::Duration;

use model::{cell::Line, units::Rate};
use sys::{NetlinkError, clock::Instant, tc};

use crate::queues::AttachedQueue;

/// The changes of one bottleneck.
#[derive(Clone, Debug)]
pub(crate) struct RateChanges {
    /// Index of its host.
    pub(crate) host: usize,
    /// Index of its device.
    device: u32,
    /// Its queues that change at a point in time.
    changes: Vec<(Duration, Vec<AttachedQueue>)>,
    /// After this span the changes start again.
    repeat: Option<Duration>,
}

impl RateChanges {
    /// The changes of a line whose bottleneck is on this device of this host; none if its rate is
    /// constant. `at_rate` returns the queues that a rate changes.
    pub(crate) fn of(
        line: &Line,
        at_rate: impl Fn(Rate) -> Vec<AttachedQueue>,
        (host, device): (usize, u32),
    ) -> Option<Self> {
        let steps = line.rate_steps.as_ref()?;
        let changes = steps.steps.iter();
        Some(Self {
            host,
            device,
            changes: changes.map(|step| (step.at, at_rate(step.rate))).collect(),
            repeat: steps.repeat,
        })
    }

    /// Makes the changes at their times, counted from `zero`; without end if they repeat.
    pub(crate) fn run(&self, nl: &mut sys::Netlink, zero: Instant) -> Result<(), NetlinkError> {
        let mut begin = zero;
        loop {
            for (at, queues) in &self.changes {
                begin.after(*at).wait();
                for queue in queues {
                    tc::change(nl, self.device, queue.parent, queue.handle, &queue.qdisc)?;
                }
            }
            match self.repeat {
                Some(span) => begin = begin.after(span),
                None => return Ok(()),
            }
        }
    }
}
