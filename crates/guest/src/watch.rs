//! Watching a cell: TCP_INFO of its sockets and the state of its queues, on a grid of time.

use std::os::fd::AsFd;

use model::{
    cell::Cell,
    record::{Kind, LossTruth, QueueSample, Stream},
};
use sys::{
    clock::Instant,
    tc::{self, Hook, QdiscExtra, StatsReader},
    tcp_info,
};
use testbed::{LossCounter, Testbed, WatchedQueue};

use crate::{
    flows::{Running, Started},
    setting::{Times, loads},
};

/// Competing flows and receivers are looked at once in so many samples.
const SELDOM: u32 = 10;

/// The queues that are watched: those in the way of the measured data.
pub(crate) fn watched<'a>(
    cell: &'a Cell,
    bed: &'a Testbed,
) -> impl Iterator<Item = (u16, &'a WatchedQueue)> {
    (0..).zip(bed.queues.iter().filter(|q| loads(cell, q.direction)))
}

/// Samples until the end of the cell, stopping flows whose time has come.
pub(crate) fn watch(
    cell: &Cell,
    bed: &Testbed,
    running: &Running,
    times: Times,
    records: &mut Stream,
    truth: &mut Stream,
) -> anyhow::Result<()> {
    let mut readers = Vec::new();
    for (id, queue) in watched(cell, bed) {
        let nl = bed.hosts[queue.host].ns.route()?;
        readers.push((id, StatsReader::of_handle(nl, queue.device, queue.handle)));
    }
    let mut next = times.zero;
    let mut count = 0;
    loop {
        let at = next.min(times.end);
        // The start and the end of measuring are looked at whole, whatever the grid.
        let marks = [times.measured, times.end];
        let at = marks
            .into_iter()
            .filter(|&m| m > last(next, cell))
            .fold(at, Ord::min);
        at.wait();
        let mark = marks.contains(&at);
        let ns = at.since(times.zero);
        for started in &running.flows {
            stop_if_due(started, at);
            sample_flow(started, ns, mark || count % SELDOM == 0, records);
        }
        for (id, reader) in &mut readers {
            if let Ok(stats) = reader.read() {
                truth.push_words(Kind::Queue, *id, ns, &queue_sample(&stats).words());
            }
        }
        if at >= times.end {
            return Ok(());
        }
        if at == next {
            next = next.after(cell.sample);
            count += 1;
        }
    }
}

/// The grid point before `next`.
fn last(next: Instant, cell: &Cell) -> Instant {
    Instant(next.0.saturating_sub(cell.sample.as_nanos() as u64))
}

fn stop_if_due(started: &Started, now: Instant) {
    if started.stop.is_some_and(|stop| stop <= now) && !started.flow.halves.stopped() {
        started.flow.halves.stop();
    }
}

fn sample_flow(started: &Started, ns: i64, whole: bool, records: &mut Stream) {
    let halves = &started.flow.halves;
    let often = started.info.cross.is_none();
    let mut bytes = [0; 512];
    if let Some(sender) = halves.sender.get().filter(|_| often || whole)
        && let Ok(n) = tcp_info::raw(sender.as_fd(), &mut bytes)
    {
        records.push(Kind::TcpSender, started.info.id, ns, &bytes[..n]);
    }
    if let Some(receiver) = halves.receiver.get().filter(|_| whole)
        && let Ok(n) = tcp_info::raw(receiver.as_fd(), &mut bytes)
    {
        records.push(Kind::TcpReceiver, started.info.id, ns, &bytes[..n]);
    }
}

fn queue_sample(stats: &tc::QdiscStats) -> QueueSample {
    let (marks, delay_us, delay_l4s_us) = match stats.extra {
        Some(QdiscExtra::Codel {
            ecn_mark,
            ldelay_us,
            ..
        }) => (ecn_mark, ldelay_us, 0),
        Some(QdiscExtra::FqCodel { ecn_mark, .. }) => (ecn_mark, 0, 0),
        Some(QdiscExtra::Pie {
            ecn_mark, delay_us, ..
        }) => (ecn_mark, delay_us, 0),
        Some(QdiscExtra::Cake {
            ecn_mark,
            avg_delay_us,
            ..
        }) => (ecn_mark, avg_delay_us, 0),
        Some(QdiscExtra::DualPi2 {
            ecn_mark,
            delay_c_us,
            delay_l_us,
            ..
        }) => (ecn_mark, delay_c_us, delay_l_us),
        Some(QdiscExtra::Red { marked, .. }) => (marked, 0, 0),
        Some(QdiscExtra::Netem { .. } | QdiscExtra::Fq { .. }) | None => (0, 0, 0),
    };
    QueueSample {
        backlog_bytes: u64::from(stats.backlog_bytes),
        packets_waiting: u64::from(stats.qlen),
        bytes: stats.bytes,
        packets: stats.packets,
        drops: u64::from(stats.drops),
        marks: u64::from(marks),
        delay_ns: u64::from(delay_us) * 1000,
        delay_l4s_ns: u64::from(delay_l4s_us) * 1000,
    }
}

/// What the stages that lose packets on purpose have done.
pub(crate) fn losses(bed: &Testbed) -> anyhow::Result<Vec<LossTruth>> {
    let mut all = Vec::new();
    for stage in &bed.losses {
        let mut nl = bed.hosts[stage.host].ns.route()?;
        let (packets, drops) = match stage.counter {
            LossCounter::Queue(handle) => {
                let stats = tc::stats(&mut nl, Some(stage.device))?;
                let found = stats.into_iter().find(|s| s.handle == handle);
                found.map_or((0, 0), |s| {
                    (s.packets + u64::from(s.drops), u64::from(s.drops))
                })
            }
            LossCounter::Ingress => action(&mut nl, stage.device, Hook::Ingress)?,
            LossCounter::Egress => action(&mut nl, stage.device, Hook::Egress)?,
        };
        let (direction, stage) = (stage.direction, stage.stage.to_owned());
        all.push(LossTruth {
            direction,
            stage,
            packets,
            drops,
        });
    }
    Ok(all)
}

/// Packets an action has seen, and those it dropped.
fn action(nl: &mut sys::Netlink, device: u32, hook: Hook) -> anyhow::Result<(u64, u64)> {
    let actions = tc::action_drops(nl, device, hook)?;
    Ok(actions
        .first()
        .map_or((0, 0), |a| (a.packets, u64::from(a.drops))))
}
