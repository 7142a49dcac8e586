//! A direction of a path as one queueing discipline of the lab's kernel.

use model::{
    cell::{Buffer, Cell, Line, Loss, Queue},
    net::Direction,
    units::Rate,
};
use sys::tc::{self, Handle, PathLimit, Qdisc};

use super::{
    AttachedQueue, INNER_QUEUE, Timers, bucket,
    delay::{netem_loss, netem_seed},
    discipline::{HOST_FIFO, cake, inner},
    root,
};

/// Returns true if `path` does all that a line does: not what varies the delay or the order of
/// packets, and no policer.
pub(crate) fn serves(line: &Line) -> bool {
    let varies = !line.jitter.is_zero()
        || line.jitter_quantiles.is_some()
        || line.slots.is_some()
        || !line.reorder.is_zero()
        || !line.duplicate.is_zero();
    let loses = matches!(line.loss, Loss::Random(_) | Loss::GilbertElliott { .. });
    let policed = line.queue == Queue::Policer || line.policer.is_some();
    line.rate.is_some() && !policed && !varies && !(line.faults_first && loses)
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

/// The handle of the queue in which packets wait.
pub(crate) fn path_waiting(line: &Line) -> Handle {
    match line.queue {
        Queue::Fifo => super::ROOT_QUEUE,
        _ => INNER_QUEUE,
    }
}

fn options(line: &Line, rate: Rate, mtu: u32, seed: Option<u64>) -> tc::Path {
    let timers = Timers::Exact;
    let own = line.peak.map(|peak| tc::TbfPeak {
        rate_bps: peak.rate.bps(),
        burst_bytes: bucket(peak.rate, mtu, timers),
    });
    let burst = line
        .peak
        .map(|peak| u32::try_from(peak.burst.0).unwrap_or(u32::MAX));
    let bucket = tc::Bucket {
        rate_bps: rate.bps(),
        burst_bytes: burst.unwrap_or_else(|| bucket(rate, mtu, timers)),
        peak: own,
    };
    let loss = netem_loss(line.loss);
    tc::Path {
        bucket: (line.queue != Queue::Cake).then_some(bucket),
        limit: limit(line.buffer),
        delay_ns: u64::try_from(line.delay.as_nanos()).unwrap_or(u64::MAX),
        // As in a chain: segments pass the delay uncut, unless losses come after the queue.
        delay_first: loss.is_none(),
        loss,
        seed,
    }
}

fn limit(buffer: Buffer) -> PathLimit {
    match buffer {
        Buffer::Packets(n) => PathLimit::Packets(n),
        Buffer::Kernel => PathLimit::Packets(HOST_FIFO),
        Buffer::Bytes(bytes) => PathLimit::Bytes(u32::try_from(bytes.0).unwrap_or(u32::MAX)),
    }
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
