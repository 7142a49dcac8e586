//! A direction of a path as one queueing discipline of the lab's kernel.

use model::{
    cell::{Buffer, Cell, ETHERNET_HEADER, Line, Loss, Queue},
    net::Direction,
    units::{Bytes, Rate},
};
use sys::tc::{self, Handle, PathDelay, PathLimit, PathPolicer, Qdisc};

use super::{
    AttachedQueue, INNER_QUEUE, Timers,
    delay::{is_pure, netem, netem_seed},
    discipline::{HOST_FIFO, cake, inner},
    root,
};

/// Returns true if `path` makes a line: one with a rate; a delay alone is one netem.
///
/// A chain's periodic loss is between the queue and the faults, where `path` has no place for an
/// action, and its reordered packets do not wait for slots.
pub(crate) fn serves(line: &Line) -> bool {
    let inside = matches!(line.loss, Loss::Every(_)) && !is_pure(line);
    let passing = line.slots.is_some() && !line.reorder.is_zero();
    line.rate.is_some() && !inside && !passing
}

/// The queues of a direction.
pub(crate) fn path(cell: &Cell, direction: Direction) -> Vec<AttachedQueue> {
    let line = cell.path.line(direction);
    let Some(rate) = line.rate else {
        return Vec::new();
    };
    let seed = netem_seed(cell.seed, direction);
    let mut queues = vec![root(Qdisc::Path(options(
        line,
        rate,
        cell.path.mtu,
        Some(seed),
    )))];
    queues.extend(child(line, rate, cell.path.mtu));
    queues
}

/// The discipline at another rate: what waits in it and the random numbers go on.
pub(crate) fn path_at(line: &Line, rate: Rate, mtu: u32) -> Vec<AttachedQueue> {
    let mut queues = vec![root(Qdisc::Path(options(line, rate, mtu, None)))];
    // Cake has its rate itself.
    queues.extend(child(line, rate, mtu).filter(|_| line.queue == Queue::Cake));
    queues
}

/// The handle of the queue in which packets wait; none for a policer, which only drops.
pub(crate) fn path_waiting(line: &Line) -> Option<Handle> {
    match line.queue {
        Queue::Policer => None,
        Queue::Fifo => Some(super::ROOT_QUEUE),
        _ => Some(INNER_QUEUE),
    }
}

fn options(line: &Line, rate: Rate, mtu: u32, seed: Option<u64>) -> tc::Path {
    let (policer, pure) = (policer(line, rate, mtu), is_pure(line));
    // Segments are cut before they are policed, or lost one packet at a time.
    let cut = policer.is_some() || line.faults_first && !pure;
    tc::Path {
        bucket: bucket(line, rate, mtu),
        policer,
        mtu_bytes: cut.then_some(mtu + ETHERNET_HEADER as u32),
        limit: limit(line),
        delay: delay(line),
        // As in a chain: segments pass a delay uncut, unless its faults come after the queue.
        delay_first: delay_first(line),
        seed,
    }
}

/// Returns true if the delay of a line is before its queue.
pub(crate) fn delay_first(line: &Line) -> bool {
    line.faults_first || is_pure(line)
}

/// The token bucket; cake has its own, and a policer only drops.
fn bucket(line: &Line, rate: Rate, mtu: u32) -> Option<tc::Bucket> {
    let one_packet = |rate| super::bucket(rate, mtu, Timers::Exact);
    let peak = line.peak.map(|peak| tc::TbfPeak {
        rate_bps: peak.rate.bps(),
        burst_bytes: one_packet(peak.rate),
    });
    let burst = line.peak.map(|peak| bytes(peak.burst));
    let bucket = tc::Bucket {
        rate_bps: rate.bps(),
        burst_bytes: burst.unwrap_or_else(|| one_packet(rate)),
        peak,
    };
    (!matches!(line.queue, Queue::Cake | Queue::Policer)).then_some(bucket)
}

/// The policer in front of the queue, or in its place.
fn policer(line: &Line, rate: Rate, mtu: u32) -> Option<PathPolicer> {
    let own = line.policer.map(|policer| (policer.rate, policer.burst));
    let alone = (line.queue == Queue::Policer).then(|| (rate, line.buffer.bytes(mtu)));
    own.or(alone).map(|(rate, burst)| PathPolicer {
        rate_bps: rate.bps(),
        burst_bytes: bytes(burst),
    })
}

/// The delay with its faults, by the numbers that netem has.
fn delay(line: &Line) -> PathDelay {
    let netem = netem(line, 0);
    PathDelay {
        delay_ns: netem.delay_ns,
        jitter_ns: netem.jitter_ns,
        distribution: netem.distribution,
        spacing_bps: netem.rate_bps,
        reorder: netem.reorder.map_or(0.0, |reorder| reorder.probability),
        duplicate: netem.duplicate,
        slot_ns: line.slots.map(|slot| slot.as_nanos() as u64),
        loss: netem.loss,
    }
}

fn limit(line: &Line) -> PathLimit {
    match line.buffer {
        // Its buffer is the burst: what it passes waits for nothing.
        _ if line.queue == Queue::Policer => PathLimit::Bytes(u32::MAX),
        Buffer::Packets(n) => PathLimit::Packets(n),
        Buffer::Kernel => PathLimit::Packets(HOST_FIFO),
        Buffer::Bytes(size) => PathLimit::Bytes(bytes(size)),
    }
}

fn bytes(size: Bytes) -> u32 {
    u32::try_from(size.0).unwrap_or(u32::MAX)
}

/// The queue in place of its own fifo.
fn child(line: &Line, rate: Rate, mtu: u32) -> Option<AttachedQueue> {
    let qdisc = match line.queue {
        Queue::Fifo | Queue::Policer => return None,
        Queue::Cake => cake(Some(rate), Some(line.buffer), mtu),
        queue => inner(queue, line.buffer, rate, mtu),
    };
    Some(AttachedQueue {
        parent: Handle::new(1, 1),
        handle: INNER_QUEUE,
        qdisc,
    })
}
