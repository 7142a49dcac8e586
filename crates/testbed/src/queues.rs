//! The kernel's queues for lines and ends.

mod delay;
mod discipline;
mod path;

use model::{
    cell::{Buffer, ETHERNET_HEADER, End, EndQdisc, Line, Peak, Queue, Shaper},
    units::Rate,
};
use sys::tc::{self, Handle, Qdisc};

pub(crate) use delay::{DELAY_LIMIT, FAST, delay, is_pure, netem_loss, netem_seed};
pub(crate) use discipline::name;
use discipline::{HOST_FIFO, cake, inner};
pub(crate) use path::{delay_first, path, path_at, path_waiting, serves};

/// Precision of a kernel's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timers {
    /// To half a microsecond (virtual time).
    Exact,
    /// To fractions of a millisecond (real time).
    Late,
}

impl Timers {
    /// Returns how late they expire.
    fn lateness(self) -> std::time::Duration {
        std::time::Duration::from_micros(if self == Self::Exact { 1 } else { 500 })
    }
}

/// A queue and where it is attached.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AttachedQueue {
    pub(crate) parent: Handle,
    pub(crate) handle: Handle,
    pub(crate) qdisc: Qdisc,
}

/// Handle of the outermost queue of a device.
pub(crate) const ROOT_QUEUE: Handle = Handle::new(1, 0);
/// Handle of the queue inside a shaper.
pub(crate) const INNER_QUEUE: Handle = Handle::new(0x10, 0);

/// The queues of a bottleneck: none without a rate, and none for a policer, which only drops.
pub(crate) fn bottleneck(line: &Line, mtu: u32, timers: Timers) -> Vec<AttachedQueue> {
    match (line.rate, line.queue) {
        (None, _) | (_, Queue::Policer) => Vec::new(),
        (Some(rate), Queue::Cake) => vec![root(cake(Some(rate), Some(line.buffer), mtu))],
        (Some(rate), queue) => {
            let queue = inner(queue, line.buffer, rate, mtu);
            shaped((rate, line.peak), queue, mtu, timers)
        }
    }
}

/// The handle of the queue in which packets of a bottleneck wait.
pub(crate) fn waiting(line: &Line) -> Option<(Handle, &'static str)> {
    match (line.rate, line.queue) {
        (None, _) | (_, Queue::Policer) => None,
        (Some(_), Queue::Cake) => Some((ROOT_QUEUE, "cake")),
        // The shaper's own counters include those of the queue inside.
        (Some(_), queue) => Some((INNER_QUEUE, name(queue))),
    }
}

/// The queues of an end's own device.
pub(crate) fn end(end: &End, mtu: u32, timers: Timers) -> Vec<AttachedQueue> {
    let qdisc = match end.qdisc {
        EndQdisc::Noqueue => None,
        EndQdisc::Fifo => Some(Qdisc::Pfifo {
            limit: Some(HOST_FIFO),
        }),
        EndQdisc::Fq => Some(Qdisc::Fq(tc::Fq::default())),
        EndQdisc::FqCodel => Some(Qdisc::FqCodel(tc::FqCodel::default())),
        EndQdisc::Codel => Some(Qdisc::Codel(tc::Codel::default())),
        EndQdisc::Pie => Some(Qdisc::Pie(tc::Pie::default())),
        EndQdisc::Cake => Some(cake(end.shape, None, mtu)),
        EndQdisc::Dualpi2 => Some(Qdisc::DualPi2(tc::DualPi2::default())),
    };
    match (end.shape, qdisc) {
        (None, None) => Vec::new(),
        (_, Some(cake @ Qdisc::Cake(_))) => vec![root(cake)],
        (None, Some(qdisc)) => vec![root(qdisc)],
        (Some(rate), qdisc) => {
            let fifo = Qdisc::Pfifo {
                limit: Some(HOST_FIFO),
            };
            shaped((rate, None), qdisc.unwrap_or(fifo), mtu, timers)
        }
    }
}

/// The queues of a shaper on the router between the two lines, with the kernel's default limits.
pub(crate) fn shaper(shaper: Shaper, mtu: u32, timers: Timers) -> Vec<AttachedQueue> {
    let Shaper { rate, queue } = shaper;
    match queue {
        Queue::Cake => vec![root(cake(Some(rate), None, mtu))],
        queue => {
            let queue = inner(queue, Buffer::Kernel, rate, mtu);
            shaped((rate, None), queue, mtu, timers)
        }
    }
}

/// A bottleneck's shaper at another rate: replaces [`bottleneck`]'s first queue without touching
/// the one inside.
///
/// A change of tbf also sets the limit of a fifo inside, in that queue's own unit
/// (`fifo_set_limit`, net/sched/sch_fifo.c, Linux 7.2).
pub(crate) fn at_rate(line: &Line, rate: Rate, mtu: u32, timers: Timers) -> Option<AttachedQueue> {
    let line = Line {
        rate: Some(rate),
        ..line.clone()
    };
    let queues = bottleneck(&line, mtu, timers);
    let limit = match queues.get(1).map(|inside| &inside.qdisc) {
        Some(Qdisc::Pfifo { limit } | Qdisc::Bfifo { limit }) => *limit,
        _ => None,
    };
    let mut shaper = queues.into_iter().next()?;
    if let (Qdisc::Tbf(tbf), Some(limit)) = (&mut shaper.qdisc, limit) {
        tbf.limit_bytes = limit;
    }
    Some(shaper)
}

fn root(qdisc: Qdisc) -> AttachedQueue {
    AttachedQueue {
        parent: Handle::ROOT,
        handle: ROOT_QUEUE,
        qdisc,
    }
}

/// A queue behind a token bucket that holds little more than one packet, so that packets leave at
/// even distances.
///
/// The little more makes up for timers that end late, which a bucket of one packet would lose for
/// good (`tbf_dequeue` caps the tokens at the bucket, net/sched/sch_tbf.c, Linux 7.2). With exact
/// timers it stays below a second packet, or segments of two would pass uncut.
///
/// With a peak rate that bucket is the second one, which every packet must pass as well, and the
/// first one is the burst beyond the rate.
fn shaped(
    (rate, peak): (Rate, Option<Peak>),
    queue: Qdisc,
    mtu: u32,
    timers: Timers,
) -> Vec<AttachedQueue> {
    let packet = mtu + ETHERNET_HEADER as u32;
    let burst = peak.map(|peak| u32::try_from(peak.burst.0).unwrap_or(u32::MAX));
    let tbf = tc::Tbf {
        rate_bps: rate.bps(),
        burst_bytes: burst.unwrap_or_else(|| bucket(rate, mtu, timers)),
        // Only of the queue it starts with, which is replaced at once.
        limit_bytes: packet,
        table_mtu_bytes: None,
        peak: peak.map(|peak| tc::TbfPeak {
            rate_bps: peak.rate.bps(),
            burst_bytes: bucket(peak.rate, mtu, timers),
        }),
    };
    let inside = AttachedQueue {
        parent: Handle::new(1, 1),
        handle: INNER_QUEUE,
        qdisc: queue,
    };
    vec![root(Qdisc::Tbf(tbf)), inside]
}

/// A bucket for little more than one packet; see [`shaped`].
pub(crate) fn bucket(rate: Rate, mtu: u32, timers: Timers) -> u32 {
    let packet = mtu + ETHERNET_HEADER as u32;
    let lateness = u32::try_from(rate.bytes_in(timers.lateness()).0).unwrap_or(u32::MAX / 2);
    let most = if timers == Timers::Exact {
        packet / 2
    } else {
        u32::MAX / 2
    };
    packet + lateness.clamp(16, most)
}
