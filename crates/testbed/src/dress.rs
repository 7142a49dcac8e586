//! Gives the devices of a path the queues, delays and losses that the plan has for them.

use std::io;

use model::{
    cell::{Cell, Loss, Queue},
    net::Direction,
    units::Share,
};
use sys::{
    Netlink, NetlinkError, ethtool, link,
    tc::{self, Action, Handle, Hook, Qdisc},
};

use crate::{
    bed::{BuildError, LossCounter, LossStage, Testbed, WatchedQueue, kernel, system},
    plan::{DEVICES, Plan, Stage},
    queues::{self, Timers},
};

/// Gives one device what its stage asks for.
pub(crate) fn dress(
    bed: &mut Testbed,
    cell: &Cell,
    plan: &Plan,
    timers: Timers,
    host: usize,
    stage: Stage,
    device: usize,
) -> Result<(), BuildError> {
    let node = &bed.hosts[host];
    let fault = kernel(node.name);
    let mut nl = node.ns.route().map_err(&fault)?;
    let index = link::index(&mut nl, DEVICES[device]).map_err(&fault)?;
    let mut dressing = Dressing {
        timers,
        nl,
        index,
        host,
        queues: Vec::new(),
        losses: Vec::new(),
    };
    match stage {
        Stage::Wire => {}
        Stage::End => {
            if !plan.segmentation {
                node.ns
                    .run(|| whole_packets(DEVICES[device]))
                    .and_then(|done| done.map_err(io::Error::other))
                    .map_err(system(node.name))?;
            }
            let (end, direction) = match host {
                0 => (&cell.ends.client, Direction::Up),
                _ => (&cell.ends.server, Direction::Down),
            };
            dressing
                .end(end, node.name, direction, cell.path.mtu)
                .map_err(&fault)?;
        }
        Stage::Bottleneck(direction) => {
            dressing.bottleneck(cell, direction).map_err(&fault)?;
        }
        Stage::Delay(direction) => dressing.delay(cell, direction).map_err(&fault)?,
    }
    let Dressing { queues, losses, .. } = dressing;
    bed.queues.extend(queues);
    bed.losses.extend(losses);
    if let Stage::Bottleneck(direction) = stage {
        // What comes out of a device comes into the one at the other end of its link.
        let (next, device) = if device == 0 {
            (host - 1, 1)
        } else {
            (host + 1, 0)
        };
        periodic_loss(bed, cell, next, DEVICES[device], direction)?;
    }
    Ok(())
}

/// Has a device cut segments up before it sends them.
fn whole_packets(device: &str) -> Result<(), ethtool::EthtoolError> {
    ethtool::set_offload(device, ethtool::Offload::Tso, false)?;
    ethtool::set_offload(device, ethtool::Offload::Gso, false)
}

/// Periodic loss is an action on the packets that come out of the bottleneck.
fn periodic_loss(
    bed: &mut Testbed,
    cell: &Cell,
    host: usize,
    device: &str,
    direction: Direction,
) -> Result<(), BuildError> {
    let Loss::Every(n) = cell.path.line(direction).loss else {
        return Ok(());
    };
    let node = &bed.hosts[host];
    let fault = kernel(node.name);
    let mut nl = node.ns.route().map_err(&fault)?;
    let device = link::index(&mut nl, device).map_err(&fault)?;
    clsact(&mut nl, device).map_err(&fault)?;
    tc::add_matchall(&mut nl, device, Hook::Ingress, 1, &[Action::DropEvery(n)]).map_err(&fault)?;
    let counter = LossCounter::Ingress;
    bed.losses.push(LossStage {
        host,
        device,
        counter,
        stage: "loss",
        direction,
    });
    Ok(())
}

fn clsact(nl: &mut Netlink, device: u32) -> Result<(), NetlinkError> {
    tc::add(
        nl,
        device,
        Handle::CLSACT,
        Handle::new(0xffff, 0),
        &Qdisc::Clsact,
    )
}

struct Dressing {
    timers: Timers,
    nl: Netlink,
    index: u32,
    host: usize,
    queues: Vec<WatchedQueue>,
    losses: Vec<LossStage>,
}

impl Dressing {
    fn hang(&mut self, queues: Vec<queues::Hung>) -> Result<(), NetlinkError> {
        for q in queues {
            tc::replace(&mut self.nl, self.index, q.parent, q.handle, &q.qdisc)?;
        }
        Ok(())
    }

    fn end(
        &mut self,
        end: &model::cell::End,
        place: &'static str,
        direction: Direction,
        mtu: u32,
    ) -> Result<(), NetlinkError> {
        let queues = queues::end(end, mtu, self.timers);
        let last = queues.last().map(|q| (q.handle, q.qdisc.kind()));
        self.hang(queues)?;
        if let (Some(rate), Some((handle, kind))) = (end.shape, last) {
            self.watch(handle, place, direction, kind, rate.bps());
        }
        Ok(())
    }

    fn bottleneck(&mut self, cell: &Cell, direction: Direction) -> Result<(), NetlinkError> {
        let line = cell.path.line(direction);
        self.hang(queues::bottleneck(line, cell.path.mtu, self.timers))?;
        let Some(rate) = line.rate else { return Ok(()) };
        if let Some((handle, kind)) = queues::waiting(line) {
            self.watch(handle, "bottleneck", direction, kind, rate.bps());
        }
        if line.queue == Queue::Policer {
            clsact(&mut self.nl, self.index)?;
            let burst_bytes = u32::try_from(line.buffer.bytes(cell.path.mtu).0).unwrap_or(u32::MAX);
            let mtu_bytes = Some(cell.path.mtu + 14);
            let police = Action::Police {
                rate_bps: rate.bps(),
                burst_bytes,
                mtu_bytes,
            };
            tc::add_matchall(&mut self.nl, self.index, Hook::Egress, 1, &[police])?;
            self.lose(LossCounter::Egress, "policer", direction);
        }
        Ok(())
    }

    fn delay(&mut self, cell: &Cell, direction: Direction) -> Result<(), NetlinkError> {
        let line = cell.path.line(direction);
        let Some(netem) = queues::delay(line, cell.seed, direction) else {
            return Ok(());
        };
        tc::replace(
            &mut self.nl,
            self.index,
            Handle::ROOT,
            queues::ROOT_QUEUE,
            &netem,
        )?;
        let random = match line.loss {
            Loss::Random(p) => p != Share::ZERO,
            Loss::GilbertElliott { .. } => true,
            Loss::None | Loss::Every(_) => false,
        };
        if random {
            self.lose(LossCounter::Queue(queues::ROOT_QUEUE), "loss", direction);
        }
        Ok(())
    }

    fn watch(
        &mut self,
        handle: Handle,
        place: &'static str,
        direction: Direction,
        kind: &'static str,
        rate_bps: u64,
    ) {
        let (host, device) = (self.host, self.index);
        let rate_bps = Some(rate_bps);
        self.queues.push(WatchedQueue {
            host,
            device,
            handle,
            place,
            direction,
            kind,
            rate_bps,
        });
    }

    fn lose(&mut self, counter: LossCounter, stage: &'static str, direction: Direction) {
        let (host, device) = (self.host, self.index);
        self.losses.push(LossStage {
            host,
            device,
            counter,
            stage,
            direction,
        });
    }
}
