//! The kernel's queues for lines and ends.

use model::{
    cell::{Buffer, ETHERNET_HEADER, End, EndQdisc, Line, Loss, Peak, Quantiles, Queue},
    net::Direction,
    units::{Rate, Seed},
};
use sys::tc::{self, Handle, Qdisc};

/// Packets that a delay may hold: never the limit of anything.
pub(crate) const DELAY_LIMIT: u32 = 10_000_000;

/// A rate no path has; see [`delay`].
pub(crate) const FAST: u64 = 100_000_000_000;

/// Packets a plain queue of a host holds (the kernel's default transmit queue length).
const HOST_FIFO: u32 = 1000;

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

/// The delay of a line with its faults. A zero delay without faults needs no queue.
///
/// netem sends packets in the order of their times, so varying delays reorder them. With a rate it
/// never sends one before its predecessor (`netem_enqueue`, net/sched/sch_netem.c, Linux 7.2);
/// [`FAST`] is that rate: one packet at 100 Gbit/s takes a tenth of a microsecond.
///
/// Slots are a separate netem inside the first one, which hands each packet on at its own time: in
/// one netem the slots would be counted from a packet's arrival instead (`netem_dequeue`).
pub(crate) fn delay(line: &Line, seed: Seed, direction: Direction) -> Vec<AttachedQueue> {
    let loss = netem_loss(line.loss);
    let reorder = (!line.reorder.is_zero()).then(|| tc::Reorder {
        probability: line.reorder.get(),
        gap: 1,
    });
    let wanted = !line.delay.is_zero()
        || !line.jitter.is_zero()
        || loss.is_some()
        || reorder.is_some()
        || !line.duplicate.is_zero()
        || line.jitter_quantiles.is_some()
        || line.slots.is_some();
    let varies = !line.jitter.is_zero() || line.jitter_quantiles.is_some();
    let in_order = varies && reorder.is_none();
    let jitter = match &line.jitter_quantiles {
        Some(quantiles) => Jitter::of(quantiles),
        None => Jitter {
            width_ns: line.jitter.as_nanos() as u64,
            ..Jitter::default()
        },
    };
    let slots = line.slots.map(|slot| AttachedQueue {
        parent: Handle::new(1, 1),
        handle: INNER_QUEUE,
        qdisc: Qdisc::Netem(tc::Netem {
            limit_packets: Some(DELAY_LIMIT),
            slot_ns: Some(slot.as_nanos() as u64),
            seed: Some(netem_seed(seed, direction)),
            ..tc::Netem::default()
        }),
    });
    let delay = wanted.then(|| {
        root(Qdisc::Netem(tc::Netem {
            delay_ns: line.delay.as_nanos() as u64 + jitter.offset_ns,
            jitter_ns: jitter.width_ns,
            distribution: jitter.distribution,
            limit_packets: Some(DELAY_LIMIT),
            loss,
            reorder,
            duplicate: line.duplicate.get(),
            rate_bps: in_order.then_some(FAST),
            seed: Some(netem_seed(seed, direction)),
            ..tc::Netem::default()
        }))
    });
    delay.into_iter().chain(slots).collect()
}

/// A varying delay as netem takes it.
#[derive(Debug, Default, PartialEq)]
struct Jitter {
    /// Added to the delay, ns.
    offset_ns: u64,
    /// Width of the deviation, ns.
    width_ns: u64,
    /// Its distribution; empty = uniform.
    distribution: Vec<i16>,
}

impl Jitter {
    /// Values of a distribution: enough for the 99.9 % quantile to have four of them.
    const VALUES: usize = 4096;

    /// A distribution by its quantiles, as values in the middle of parts of equal probability.
    ///
    /// The range of the delay is laid around its middle, to use all 16 bits of a value: netem adds
    /// `jitter * value / 8192` (`tabledist`, net/sched/sch_netem.c, Linux 7.2).
    fn of(quantiles: &Quantiles) -> Self {
        let most_ns = quantiles.most().as_nanos() as u64;
        let offset_ns = most_ns.div_ceil(2);
        let scale = i64::from(tc::DISTRIBUTION_SCALE);
        let width_ns = (offset_ns * scale as u64).div_ceil(i16::MAX as u64);
        let value = |index: usize| {
            let share = (index as f64 + 0.5) / Self::VALUES as f64;
            let added = quantiles.at(share).as_nanos() as i64 - offset_ns as i64;
            let value = (added * scale) as f64 / width_ns as f64;
            // Within the range by the choice of the width; the cast saturates.
            value.round() as i16
        };
        Self {
            offset_ns,
            width_ns,
            distribution: (0..Self::VALUES).map(value).collect(),
        }
    }
}

/// Random loss as netem takes it; periodic loss is an action.
pub(crate) fn netem_loss(loss: Loss) -> Option<tc::Loss> {
    match loss {
        Loss::None | Loss::Every(_) => None,
        Loss::Random(p) => Some(tc::Loss::Random(p.get())),
        Loss::GilbertElliott { p, r, bad, good } => Some(tc::Loss::Gemodel(tc::Gemodel {
            p: p.get(),
            r: r.get(),
            bad_loss: bad.get(),
            good_loss: good.get(),
        })),
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

/// Seed of the random numbers of a line's netem: the same for every setting of a matrix, so that
/// each meets the same losses, and another for each direction.
pub(crate) fn netem_seed(seed: Seed, direction: Direction) -> u64 {
    let salt = match direction {
        Direction::Down => 0x9e37_79b9_7f4a_7c15,
        Direction::Up => 0xd134_2543_de82_ef95,
    };
    // splitmix64's finaliser: neighbouring seeds must not give related numbers.
    let mut z = seed.0.wrapping_add(salt);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
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

/// The queue inside a bottleneck's shaper. AQMs mark packets that can be marked.
fn inner(queue: Queue, buffer: Buffer, rate: Rate, mtu: u32) -> Qdisc {
    let packets = (buffer != Buffer::Kernel).then(|| buffer.packets(mtu));
    match queue {
        Queue::Fifo | Queue::Policer | Queue::Cake => fifo(buffer),
        Queue::Fq => Qdisc::Fq(tc::Fq {
            limit_packets: packets,
            flow_limit_packets: packets,
            ..tc::Fq::default()
        }),
        Queue::FqCodel => Qdisc::FqCodel(tc::FqCodel {
            limit_packets: packets,
            ecn: Some(true),
            ..tc::FqCodel::default()
        }),
        Queue::Codel => Qdisc::Codel(tc::Codel {
            limit_packets: packets,
            ecn: Some(true),
            ..tc::Codel::default()
        }),
        Queue::Pie => Qdisc::Pie(tc::Pie {
            limit_packets: packets,
            ecn: Some(true),
            ..tc::Pie::default()
        }),
        Queue::Dualpi2 => Qdisc::DualPi2(tc::DualPi2 {
            limit_packets: packets,
            ..tc::DualPi2::default()
        }),
        Queue::Red => red(buffer, rate, mtu),
    }
}

fn fifo(buffer: Buffer) -> Qdisc {
    match buffer {
        Buffer::Packets(n) => Qdisc::Pfifo { limit: Some(n) },
        Buffer::Kernel => Qdisc::Pfifo {
            limit: Some(HOST_FIFO),
        },
        Buffer::Bytes(bytes) => Qdisc::Bfifo {
            limit: Some(u32::try_from(bytes.0).unwrap_or(u32::MAX)),
        },
    }
}

/// Adaptive RED by the usual recipe (Floyd, Gummadi, Shenker 2001; tc-red(8)): the upper threshold
/// at a quarter of the limit, the lower at a third of that.
fn red(buffer: Buffer, rate: Rate, mtu: u32) -> Qdisc {
    let packet = mtu + ETHERNET_HEADER as u32;
    let limit = u32::try_from(buffer.bytes(mtu).0).unwrap_or(u32::MAX);
    let max = (limit / 4).max(3 * packet);
    let min = (max / 3).max(packet);
    Qdisc::Red(tc::Red {
        limit_bytes: limit,
        min_bytes: min,
        max_bytes: max,
        packet_bytes: packet,
        burst_packets: None,
        probability: 0.02,
        bandwidth_bps: rate.bps(),
        ecn: true,
        harddrop: false,
        adaptive: true,
        nodrop: false,
    })
}

/// Memory of `bytes` of full packets in a queue: cake limits the memory of packets
/// (`skb->truesize`), 2304 bytes for one of 1514 that crossed a veth pair.
fn memory_for(bytes: u64) -> u32 {
    u32::try_from(bytes * 2304 / 1514).unwrap_or(u32::MAX)
}

fn cake(rate: Option<Rate>, buffer: Option<Buffer>, mtu: u32) -> Qdisc {
    Qdisc::Cake(tc::Cake {
        rate_bps: rate.map(Rate::bps),
        memory_bytes: buffer
            .filter(|&b| b != Buffer::Kernel)
            .map(|b| memory_for(b.bytes(mtu).0)),
        ..tc::Cake::default()
    })
}

/// The kernel's name of a bottleneck's queue.
pub(crate) fn name(queue: Queue) -> &'static str {
    match queue {
        Queue::Fifo => "fifo",
        Queue::Fq => "fq",
        Queue::FqCodel => "fq_codel",
        Queue::Codel => "codel",
        Queue::Pie => "pie",
        Queue::Cake => "cake",
        Queue::Dualpi2 => "dualpi2",
        Queue::Red => "red",
        Queue::Policer => "policer",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::{cell::Quantile, units::Share};

    use super::*;

    /// Computes the delay that netem makes of a value (`tabledist`).
    fn added_ns(jitter: &Jitter, value: i16) -> i64 {
        let scale = i64::from(tc::DISTRIBUTION_SCALE);
        let (width, value) = (jitter.width_ns as i64, i64::from(value));
        let x = (width % scale) * value;
        let half = if x >= 0 { scale / 2 } else { -scale / 2 };
        (x + half) / scale + (width / scale) * value + jitter.offset_ns as i64
    }

    #[test]
    fn the_table_of_netem_has_the_quantiles_of_the_spec() {
        let all = [(0.5, 1u64), (0.9, 4), (0.99, 20)].map(|(share, ms)| Quantile {
            share: Share::new(share).unwrap_or(Share::ONE),
            delay: Duration::from_millis(ms),
        });
        let jitter = Jitter::of(&Quantiles(all.to_vec()));
        for quantile in all {
            let index = (quantile.share.get() * Jitter::VALUES as f64) as usize;
            let got = added_ns(&jitter, jitter.distribution[index]);
            let expected = quantile.delay.as_nanos() as i64;
            assert!((got - expected).abs() < 60_000, "{quantile:?}: {got}");
        }
        let (least, most) = (
            jitter.distribution[0],
            jitter.distribution[Jitter::VALUES - 1],
        );
        assert!(added_ns(&jitter, least).abs() < 2_000);
        assert!((added_ns(&jitter, most) - 20_000_000).abs() < 2_000);
    }
}
