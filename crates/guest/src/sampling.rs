//! Samples of a cell on a grid of time: `TCP_INFO` of its sockets and the state of its queues.

mod many;
mod state;

use model::{
    cell::Cell,
    record::{Kind, LossTruth, Stream},
};
use sys::{
    clock::Instant,
    tc::{self, Hook, QdiscExtra, StatsReader},
};
use testbed::{LossCounter, Testbed};

use crate::{engine::Engine, flows::Running, times::Times};
use many::{Many, Points};
use state::{SELDOM, queue_sample};

pub(crate) use state::sampled;

/// Samples until the end of the cell, and stops flows at their stop time.
pub(crate) fn run(
    engine: Engine<'_>,
    cell: &Cell,
    bed: &Testbed,
    running: &mut Running,
    times: Times,
    truth: &mut Stream,
) -> anyhow::Result<()> {
    let mut readers = Vec::new();
    for (id, queue) in sampled(cell, bed) {
        let nl = bed.hosts[queue.host].ns.route()?;
        readers.push((id, StatsReader::of_handle(nl, queue.device, queue.handle)));
    }
    let mut next = times.zero;
    let mut count = 0;
    // At the start and the end of the measured time everything is sampled, regardless of the grid.
    let marks = [times.measured, times.end];
    let mut many = Many::new(engine);
    let mut before = None;
    loop {
        let at = point(next, marks, before);
        before = Some(at);
        at.wait();
        let whole = marks.contains(&at) || count % SELDOM == 0;
        let ns = at.since(times.zero);
        for started in &mut running.flows {
            started.stop_if_due(at);
            started.sample(ns, started.is_measured() || whole, whole);
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
        if whole {
            many.prepare(cell, bed, running);
        }
        // Points of the grid at which nothing else is due, one system call for all.
        let due = running.stops().chain(marks).filter(|&due| due > at).min();
        let mut points = Points {
            first: next,
            every: cell.sample,
            number: count,
            count: many.most(count, running),
        };
        points.count = before_due(points, due);
        if points.count > 0 && many.sample(points, running, times, truth) {
            before = Some(points.at(points.count - 1));
            next = points.at(points.count);
            count += points.count;
        }
    }
}

/// Number of points that come before a time, if any.
fn before_due(points: Points, due: Option<Instant>) -> u32 {
    let is_before = |point: &u32| due.is_none_or(|due| points.at(*point) < due);
    (0..points.count).take_while(is_before).count() as u32
}

/// The time to sample at: the next point of the grid, or a mark that comes first and was not
/// sampled yet.
fn point(next: Instant, marks: [Instant; 2], before: Option<Instant>) -> Instant {
    let open = marks.into_iter().filter(|&mark| Some(mark) > before);
    open.fold(next, Ord::min)
}

/// Counts of the stages that drop packets on purpose.
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
            LossCounter::Path => {
                let stats = tc::stats(&mut nl, Some(stage.device))?;
                stats.iter().find_map(lost).unwrap_or_default()
            }
            LossCounter::PathPolicer => {
                let stats = tc::stats(&mut nl, Some(stage.device))?;
                stats.iter().find_map(policed).unwrap_or_default()
            }
            LossCounter::Ingress => action(&mut nl, stage.device, Hook::Ingress)?,
            LossCounter::Egress => action(&mut nl, stage.device, Hook::Egress)?,
        };
        all.push(LossTruth {
            direction: stage.direction,
            stage: stage.stage,
            packets,
            drops,
        });
    }
    Ok(all)
}

/// Packets that a `path` could lose by chance, and those that it lost.
fn lost(stats: &tc::QdiscStats) -> Option<(u64, u64)> {
    match stats.extra {
        Some(QdiscExtra::Path { faced, lost, .. }) => Some((faced, lost)),
        _ => None,
    }
}

/// Packets offered to the policer of a `path`, and those that it dropped.
fn policed(stats: &tc::QdiscStats) -> Option<(u64, u64)> {
    match stats.extra {
        Some(QdiscExtra::Path {
            offered, policed, ..
        }) => Some((offered, policed)),
        _ => None,
    }
}

/// Packets that an action processed, and packets it dropped.
fn action(nl: &mut sys::Netlink, device: u32, hook: Hook) -> anyhow::Result<(u64, u64)> {
    let actions = tc::action_drops(nl, device, hook)?;
    Ok(actions
        .first()
        .map_or((0, 0), |a| (a.packets, u64::from(a.drops))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The points of a cell with a grid of 10, up to the end.
    fn points(measured: u64, end: u64) -> Vec<u64> {
        let marks = [Instant(measured), Instant(end)];
        let (mut next, mut before, mut all) = (Instant(0), None, Vec::new());
        while all.last() != Some(&end) && all.len() < 20 {
            let at = point(next, marks, before);
            before = Some(at);
            all.push(at.0);
            if at == next {
                next = Instant(next.0 + 10);
            }
        }
        all
    }

    #[test]
    fn a_warm_up_between_two_samples_was_sampled_for_ever() {
        assert_eq!(points(13, 37), [0, 10, 13, 20, 30, 37]);
    }

    #[test]
    fn marks_on_the_grid_are_sampled_once() {
        assert_eq!(points(20, 40), [0, 10, 20, 30, 40]);
    }

    #[test]
    fn a_mark_at_the_start_is_the_first_sample() {
        assert_eq!(points(0, 20), [0, 10, 20]);
    }
}
