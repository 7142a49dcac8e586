//! Rates that change over time.

use std::{io, sync::Arc, time::Duration};

use model::cell::Line;
use sys::{
    NetlinkError,
    clock::Instant,
    sched,
    tc::{self, Handle},
};

use crate::{
    bed::{BuildError, Testbed, kernel, system},
    queues::{self, AttachedQueue, Timers},
};

/// The changes of one bottleneck.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// Index of its host.
    host: usize,
    /// Index of its device.
    device: u32,
    /// Its shaper from a point in time on.
    changes: Vec<(Duration, AttachedQueue)>,
    /// After this span the changes start again.
    repeat: Option<Duration>,
}

impl Course {
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
    fn run(&self, nl: &mut sys::Netlink, zero: Instant) -> Result<(), NetlinkError> {
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

/// Starts the changes of a path's rates, with their times counted from `zero`. They go on until
/// this process ends.
///
/// A shaper whose rate changes forgets what its bucket held, and a packet that waits for the old
/// rate still waits as long as that asked for (`tbf_change`, `tbf_dequeue`, net/sched/sch_tbf.c,
/// Linux 7.2): a change acts one packet's time late at most.
///
/// # Errors
/// A namespace, or a thread, was refused.
pub fn follow(bed: &Arc<Testbed>, zero: Instant) -> Result<(), BuildError> {
    for course in bed.courses.iter().cloned() {
        let node = &bed.hosts[course.host];
        let name = node.name;
        let mut nl = node.ns.route().map_err(kernel(name))?;
        // The namespace lives as long as its path.
        let bed = bed.clone();
        let spawned = std::thread::Builder::new().spawn(move || {
            let _ = sched::set_timer_slack(1);
            if let Err(error) = course.run(&mut nl, zero) {
                eprintln!("change the rate on {name}: {error}");
            }
            drop(bed);
        });
        spawned.map(drop).map_err(|e: io::Error| system(name)(e))?;
    }
    Ok(())
}
