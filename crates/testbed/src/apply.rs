//! Application of the queues, delays and losses of a plan to the devices of a path.

use std::io;

use model::{
    cell::{Cell, Loss, Policer, Queue, Shaper},
    net::{Direction, Side},
    record::{LossyStage, QueuePlace},
    units::Share,
};
use sys::{
    Netlink, NetlinkError, ethtool,
    link::{self, NewLink},
    tc::{self, Action, Handle, Hook, Qdisc, QdiscExtra},
};

use crate::{
    address,
    bed::{BuildError, LossCounter, LossStage, SampledQueue, Testbed, kernel, system},
    plan::{DEVICES, Plan, Stage},
    queues::{self, Timers},
    rate_changes::RateChanges,
    stage, tunnel,
};

/// The router's device for the queue of what it receives.
const INTERMEDIATE: &str = "from-server";

/// A device of the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Index of its host.
    pub(crate) host: usize,
    /// Its number there, in the order of [`DEVICES`].
    pub(crate) device: usize,
}

/// Applies a stage to a device.
pub(crate) fn apply(
    bed: &mut Testbed,
    cell: &Cell,
    plan: &Plan,
    timers: Timers,
    place: Place,
    stage: Stage,
) -> Result<(), BuildError> {
    let Place { host, device } = place;
    let node = &bed.hosts[host];
    let fault = kernel(node.name);
    let mut nl = node.ns.route().map_err(&fault)?;
    let index = link::index(&mut nl, DEVICES[device]).map_err(&fault)?;
    let mut applied = Applied {
        timers,
        nl,
        index,
        host,
        queues: Vec::new(),
        losses: Vec::new(),
        rate_changes: Vec::new(),
    };
    match stage {
        Stage::Wire => {}
        Stage::End => {
            if !plan.segmentation {
                node.ns
                    .run(|| disable_segmentation(DEVICES[device]))
                    .and_then(|done| done.map_err(io::Error::other))
                    .map_err(system(node.name))?;
            }
            let direction = match host {
                0 => Direction::Up,
                _ => Direction::Down,
            };
            let end = cell.ends.end(Side::sends(direction));
            applied.end(end, direction, cell.path.mtu).map_err(&fault)?;
        }
        Stage::Bottleneck(direction) => {
            applied.bottleneck(cell, direction).map_err(&fault)?;
        }
        Stage::Delay(direction) => applied.delay(cell, direction).map_err(&fault)?,
        Stage::Path(direction) => {
            applied.path(cell, direction).map_err(&fault)?;
            if !applied.knows_path().map_err(&fault)? {
                let why = "this image of the lab's kernel is older than the program: make one with \
                           `pathtwin lab kernel build`";
                return Err(system(node.name)(io::Error::other(why)));
            }
        }
        Stage::Tunnel(direction) => applied.tunnel(cell, direction).map_err(&fault)?,
        Stage::Local(direction) => applied.local(cell, direction).map_err(&fault)?,
        Stage::Router => applied.router(cell).map_err(&fault)?,
    }
    let Applied {
        queues,
        losses,
        rate_changes,
        ..
    } = applied;
    bed.queues.extend(queues);
    bed.losses.extend(losses);
    bed.rate_changes.extend(rate_changes);
    if let Stage::Bottleneck(direction) | Stage::Path(direction) = stage {
        // A packet that leaves a device arrives at the one at the other end of its link.
        let (next, device) = if device == 0 {
            (host - 1, 1)
        } else {
            (host + 1, 0)
        };
        periodic_loss(bed, cell, next, DEVICES[device], direction)?;
    }
    Ok(())
}

/// Has a device cut segments up into packets before it sends them.
fn disable_segmentation(device: &str) -> Result<(), ethtool::EthtoolError> {
    ethtool::set_offload(device, ethtool::Offload::Tso, false)?;
    ethtool::set_offload(device, ethtool::Offload::Gso, false)
}

/// Periodic loss is an action on the packets that leave the bottleneck.
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
        stage: LossyStage::Loss,
        direction,
    });
    Ok(())
}

/// Returns true if packets are lost by chance.
fn is_lossy(loss: Loss) -> bool {
    match loss {
        Loss::Random(p) => p != Share::ZERO,
        Loss::GilbertElliott { .. } => true,
        Loss::None | Loss::Every(_) => false,
    }
}

/// Adds the place for actions; a device may have it for those of the other direction already.
fn clsact(nl: &mut Netlink, device: u32) -> Result<(), NetlinkError> {
    let added = tc::add(
        nl,
        device,
        Handle::CLSACT,
        Handle::new(0xffff, 0),
        &Qdisc::Clsact,
    );
    match added {
        Err(error) if error.io().kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Settings applied to one device.
struct Applied {
    timers: Timers,
    nl: Netlink,
    index: u32,
    host: usize,
    queues: Vec<SampledQueue>,
    losses: Vec<LossStage>,
    rate_changes: Vec<RateChanges>,
}

impl Applied {
    fn attach(&mut self, queues: Vec<queues::AttachedQueue>) -> Result<(), NetlinkError> {
        for q in queues {
            tc::replace(&mut self.nl, self.index, q.parent, q.handle, &q.qdisc)?;
        }
        Ok(())
    }

    fn end(
        &mut self,
        end: &model::cell::End,
        direction: Direction,
        mtu: u32,
    ) -> Result<(), NetlinkError> {
        let queues = queues::end(end, mtu, self.timers);
        let last = queues.last().map(|q| (q.handle, q.qdisc.kind()));
        self.attach(queues)?;
        if let (Some(rate), Some((handle, kind))) = (end.shape, last) {
            let place = Side::sends(direction).into();
            self.sample(handle, place, direction, kind, rate.bps());
        }
        Ok(())
    }

    fn bottleneck(&mut self, cell: &Cell, direction: Direction) -> Result<(), NetlinkError> {
        let line = cell.path.line(direction);
        self.attach(queues::bottleneck(line, cell.path.mtu, self.timers))?;
        // The hook of the action is before the queue of the same device (`__dev_queue_xmit`,
        // net/core/dev.c, Linux 7.2).
        if let Some(policer) = line.policer {
            self.police(policer, cell.path.mtu, direction)?;
        }
        let Some(rate) = line.rate else { return Ok(()) };
        if let Some((handle, kind)) = queues::waiting(line) {
            self.sample(handle, QueuePlace::Bottleneck, direction, kind, rate.bps());
        }
        if line.queue == Queue::Policer {
            let burst = line.buffer.bytes(cell.path.mtu);
            self.police(Policer { rate, burst }, cell.path.mtu, direction)?;
        }
        let at_rate = |rate| {
            queues::at_rate(line, rate, cell.path.mtu, self.timers)
                .into_iter()
                .collect()
        };
        let place = (self.host, self.index);
        self.rate_changes
            .extend(RateChanges::of(line, at_rate, place));
        Ok(())
    }

    fn police(
        &mut self,
        policer: Policer,
        mtu: u32,
        direction: Direction,
    ) -> Result<(), NetlinkError> {
        clsact(&mut self.nl, self.index)?;
        let police = Action::Police {
            rate_bps: policer.rate.bps(),
            burst_bytes: u32::try_from(policer.burst.0).unwrap_or(u32::MAX),
            mtu_bytes: Some(mtu + 14),
        };
        tc::add_matchall(&mut self.nl, self.index, Hook::Egress, 1, &[police])?;
        self.count_losses(LossCounter::Egress, LossyStage::Policer, direction);
        Ok(())
    }

    fn delay(&mut self, cell: &Cell, direction: Direction) -> Result<(), NetlinkError> {
        let line = cell.path.line(direction);
        self.attach(queues::delay(line, cell.seed, direction))?;
        if is_lossy(line.loss) {
            let counter = LossCounter::Queue(queues::ROOT_QUEUE);
            self.count_losses(counter, LossyStage::Loss, direction);
        }
        Ok(())
    }

    fn path(&mut self, cell: &Cell, direction: Direction) -> Result<(), NetlinkError> {
        let line = cell.path.line(direction);
        self.attach(queues::path(cell, direction))?;
        if let (Some(rate), Some(handle)) = (line.rate, queues::path_waiting(line)) {
            let kind = queues::name(line.queue);
            self.sample(handle, QueuePlace::Bottleneck, direction, kind, rate.bps());
        }
        if line.queue == Queue::Policer || line.policer.is_some() {
            let counter = LossCounter::PathPolicer;
            self.count_losses(counter, LossyStage::Policer, direction);
        }
        if is_lossy(line.loss) {
            self.count_losses(LossCounter::Path, LossyStage::Loss, direction);
        }
        let at_rate = |rate| queues::path_at(line, rate, cell.path.mtu);
        let place = (self.host, self.index);
        self.rate_changes
            .extend(RateChanges::of(line, at_rate, place));
        Ok(())
    }

    /// An older image ignores the parameters that it does not know; it has fewer counters, too.
    fn knows_path(&mut self) -> Result<bool, NetlinkError> {
        let stats = tc::stats(&mut self.nl, Some(self.index))?;
        let knows = |stats: &tc::QdiscStats| matches!(stats.extra, Some(QdiscExtra::Path { .. }));
        Ok(stats.iter().any(knows))
    }

    /// Only the tunnel's packets enter the class; all others bypass it.
    fn tunnel(&mut self, cell: &Cell, direction: Direction) -> Result<(), NetlinkError> {
        let stage = cell.tunnel.as_ref().and_then(|t| t.stage(direction));
        let Some(stage) = stage else { return Ok(()) };
        self.stage(stage::tunnel(stage, cell, direction, self.timers))?;
        let (root, class) = (queues::ROOT_QUEUE, stage::CLASS);
        let any = address::host(cell.path.ip, address::TUNNEL, Side::Near);
        let port = (any, tunnel::PORT);
        tc::add_udp_port(&mut self.nl, self.index, root, port, class)?;
        let counter = LossCounter::Queue(queues::INNER_QUEUE);
        self.count_losses(counter, LossyStage::Tunnel, direction);
        Ok(())
    }

    /// All packets go into the class.
    fn local(&mut self, cell: &Cell, direction: Direction) -> Result<(), NetlinkError> {
        match &cell.path.local {
            Some(local) => self.stage(stage::local(local, cell, direction, self.timers)),
            None => Ok(()),
        }
    }

    /// As `sqm` does on a home router: a queue on the device to the path, and one on an
    /// intermediate device, through which a filter sends all that arrives there.
    fn router(&mut self, cell: &Cell) -> Result<(), NetlinkError> {
        let Some(local) = cell.path.local else {
            return Ok(());
        };
        let mtu = cell.path.mtu;
        if let Some(up) = local.shape_up {
            self.shaper(up, mtu, Direction::Up)?;
        }
        let Some(down) = local.shape_down else {
            return Ok(());
        };
        let outer = self.index;
        let new = NewLink {
            mtu: Some(mtu),
            queues: Some(1),
            ..NewLink::named(INTERMEDIATE)
        };
        link::create_ifb(&mut self.nl, &new)?;
        self.index = link::index(&mut self.nl, INTERMEDIATE)?;
        link::set_up(&mut self.nl, self.index)?;
        self.shaper(down, mtu, Direction::Down)?;
        clsact(&mut self.nl, outer)?;
        let redirect = Action::Redirect(self.index);
        tc::add_matchall(&mut self.nl, outer, Hook::Ingress, 1, &[redirect])
    }

    fn shaper(
        &mut self,
        shaper: Shaper,
        mtu: u32,
        direction: Direction,
    ) -> Result<(), NetlinkError> {
        let queues = queues::shaper(shaper, mtu, self.timers);
        let last = queues.last().map(|q| (q.handle, q.qdisc.kind()));
        self.attach(queues)?;
        if let Some((handle, kind)) = last {
            let rate = shaper.rate.bps();
            self.sample(handle, QueuePlace::Router, direction, kind, rate);
        }
        Ok(())
    }

    fn stage(&mut self, parts: stage::StageQueues) -> Result<(), NetlinkError> {
        let (root, class) = (queues::ROOT_QUEUE, stage::CLASS);
        tc::replace(&mut self.nl, self.index, Handle::ROOT, root, &parts.root)?;
        tc::add_htb_class(&mut self.nl, self.index, root, class, &parts.class)?;
        self.attach(vec![parts.queue])
    }

    fn sample(
        &mut self,
        handle: Handle,
        place: QueuePlace,
        direction: Direction,
        kind: &'static str,
        rate_bps: u64,
    ) {
        let (host, device) = (self.host, self.index);
        let rate_bps = Some(rate_bps);
        self.queues.push(SampledQueue {
            host,
            device,
            handle,
            place,
            direction,
            kind,
            rate_bps,
        });
    }

    fn count_losses(&mut self, counter: LossCounter, stage: LossyStage, direction: Direction) {
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
