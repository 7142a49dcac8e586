//! Changes of the bottlenecks and delays of a path that is in use.

use model::{
    cell::{Cell, Line, Loss, PathEngine, Queue},
    net::Direction,
};
use sys::{
    Netlink, NetlinkError, link,
    tc::{self, Handle},
};

use crate::{
    build,
    plan::{DEVICES, Plan, Stage},
    queues::{self, AttachedQueue, Timers},
};

/// Error changing a path.
#[derive(Debug, thiserror::Error)]
pub enum AlterError {
    /// The two paths differ in more than the queues of their devices.
    #[error("the paths differ in more than rates, queues, delays and random loss")]
    Shape,
    /// The kernel refused something.
    #[error(transparent)]
    Kernel(#[from] NetlinkError),
}

/// Changes what one router of a path does from `before` to `after`; `nl` is a socket in its
/// namespace, `name` its name. A queue whose kind or size changes loses the packets in it; a change
/// of a rate or a delay keeps them.
///
/// # Errors
/// The paths differ in more than rates, queues, delays and random loss, or the kernel refuses.
pub fn alter(
    nl: &mut Netlink,
    name: &str,
    (before, after): (&Cell, &Cell),
    timers: Timers,
) -> Result<(), AlterError> {
    let (before, after) = (&as_built(before, timers), &as_built(after, timers));
    let plan = Plan::new(before, timers);
    // Settings of the ends, such as buffers that fit the path, are those it was built with.
    if plan.links != Plan::new(after, timers).links || !alike(before, after) {
        return Err(AlterError::Shape);
    }
    // Link n joins hosts n and n + 1.
    let sides = plan.links.iter().enumerate();
    let devices =
        sides.flat_map(|(at, link)| [(at, 1, link.near_side), (at + 1, 0, link.far_side)]);
    for (host, device, stage) in devices {
        if plan.hosts[host].name != name {
            continue;
        }
        let index = link::index(nl, DEVICES[device])?;
        match stage {
            Stage::Bottleneck(direction) => {
                let lines = (before.path.line(direction), after.path.line(direction));
                bottleneck(nl, index, lines, (after.path.mtu, timers))?;
            }
            Stage::Delay(direction) => {
                let of =
                    |cell: &Cell| queues::delay(cell.path.line(direction), cell.seed, direction);
                replace(nl, index, &of(before), &of(after))?;
            }
            Stage::Path(direction) => path(nl, index, direction, (before, after))?,
            Stage::Wire | Stage::End | Stage::Tunnel(_) | Stage::Local(_) | Stage::Router => {}
        }
    }
    Ok(())
}

/// The cell of a path that was built on this kernel.
fn as_built(cell: &Cell, timers: Timers) -> Cell {
    Cell {
        engine: build::engine_in_use(cell, timers),
        ..cell.clone()
    }
}

/// Returns true if all but what [`alter`] changes is the same: policers in front of a queue and
/// periodic losses are actions beside the queues; so is a chain's policer in place of one.
fn alike(before: &Cell, after: &Cell) -> bool {
    let every = |line: &Line| match line.loss {
        Loss::Every(n) => Some(n),
        _ => None,
    };
    let rest = |line: &Line| {
        let shaped = line.rate.is_some();
        (
            shaped,
            line.policer,
            line.peak,
            every(line),
            line.rate_steps.clone(),
        )
    };
    let same = |direction| {
        let lines = [before, after].map(|cell| cell.path.line(direction));
        let kinds = lines.map(|line| line.queue == Queue::Policer);
        let fixed = kinds[0] && before.engine == PathEngine::Chain;
        rest(lines[0]) == rest(lines[1])
            && kinds[0] == kinds[1]
            && (!fixed || (lines[0].rate, lines[0].buffer) == (lines[1].rate, lines[1].buffer))
    };
    [Direction::Down, Direction::Up].into_iter().all(same)
        && before.path.mtu == after.path.mtu
        && before.path.local == after.path.local
        && before.tunnel == after.tunnel
}

fn bottleneck(
    nl: &mut Netlink,
    device: u32,
    (before, after): (&Line, &Line),
    (mtu, timers): (u32, Timers),
) -> Result<(), NetlinkError> {
    let inside = |line: &Line| queues::bottleneck(line, mtu, timers).get(1).cloned();
    match after
        .rate
        .filter(|_| before.queue == after.queue && inside(before) == inside(after))
    {
        Some(rate) if before.rate == Some(rate) => Ok(()),
        Some(rate) => match queues::at_rate(after, rate, mtu, timers) {
            Some(AttachedQueue { handle, qdisc, .. }) => {
                tc::change(nl, device, Handle::ROOT, handle, &qdisc)
            }
            None => Ok(()),
        },
        None => {
            let of = |line| queues::bottleneck(line, mtu, timers);
            renew(nl, device, &of(before), &of(after))
        }
    }
}

/// A discipline whose queue stays as it is is changed in place, and its random numbers go on.
fn path(
    nl: &mut Netlink,
    device: u32,
    direction: Direction,
    (before, after): (&Cell, &Cell),
) -> Result<(), NetlinkError> {
    let of = |cell| queues::path(cell, direction);
    let (old, new) = (of(before), of(after));
    if old == new {
        return Ok(());
    }
    let (earlier, line) = (before.path.line(direction), after.path.line(direction));
    // What is on its way before the queue must not count as having passed it.
    let stays =
        old.get(1) == new.get(1) && queues::delay_first(earlier) == queues::delay_first(line);
    match line.rate.filter(|_| stays) {
        Some(rate) => queues::path_at(line, rate, after.path.mtu)
            .iter()
            .try_for_each(|q| tc::change(nl, device, q.parent, q.handle, &q.qdisc)),
        None => renew(nl, device, &old, &new),
    }
}

/// One queue of the same kind is changed in place.
fn replace(
    nl: &mut Netlink,
    device: u32,
    before: &[AttachedQueue],
    after: &[AttachedQueue],
) -> Result<(), NetlinkError> {
    match (before, after) {
        _ if before == after => Ok(()),
        ([old], [new]) if old.qdisc.kind() == new.qdisc.kind() => {
            tc::change(nl, device, new.parent, new.handle, &new.qdisc)
        }
        _ => renew(nl, device, before, after),
    }
}

fn renew(
    nl: &mut Netlink,
    device: u32,
    before: &[AttachedQueue],
    after: &[AttachedQueue],
) -> Result<(), NetlinkError> {
    if !before.is_empty() {
        tc::delete(nl, device, Handle::ROOT)?;
    }
    for queue in after {
        tc::add(nl, device, queue.parent, queue.handle, &queue.qdisc)?;
    }
    Ok(())
}
