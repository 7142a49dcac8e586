//! Carries a plan out, in the kernel this process runs on.

use std::{io, net::IpAddr};

use model::{
    cell::{Cell, Direction, IpVersion, Loss, Queue, TunnelAt},
    units::Share,
};
use sys::{
    Netlink, NetlinkError, Netns, ethtool,
    link::{self, NewLink, Route},
    sysctl,
    tc::{self, Action, Handle, Hook, Qdisc},
};

use crate::{
    address::{self, Side, TUNNEL},
    plan::{Host, Link, Plan, Stage},
    queues::{self, Timers},
    tunnel,
};

/// Device towards the client, and towards the server.
const DEVICES: [&str; 2] = ["to-client", "to-server"];

/// A host that stands.
#[derive(Debug)]
pub struct Node {
    /// Its name.
    pub name: &'static str,
    /// Its namespace.
    pub ns: Netns,
    /// Its address for the measured layer: inside the tunnel if there is one. Routers have none.
    pub address: Option<IpAddr>,
    /// Its address on the path itself, if it is an end that has one.
    pub underlay: Option<IpAddr>,
}

/// A queue to look at.
#[derive(Clone, Debug)]
pub struct WatchedQueue {
    /// Index of its host in [`Testbed::hosts`].
    pub host: usize,
    /// Index of its device.
    pub device: u32,
    /// Handle of the queue.
    pub handle: Handle,
    /// `bottleneck`, or the name of the end whose shaper it is in.
    pub place: &'static str,
    /// Direction of the packets in it.
    pub direction: Direction,
    /// The kernel's name of its kind.
    pub kind: &'static str,
    /// Rate at which it drains, bit/s.
    pub rate_bps: Option<u64>,
}

/// A stage that loses packets on purpose.
#[derive(Clone, Debug)]
pub struct LossStage {
    /// Index of its host.
    pub host: usize,
    /// Index of its device.
    pub device: u32,
    /// Where its counters are.
    pub counter: LossCounter,
    /// `loss` or `policer`.
    pub stage: &'static str,
    /// Direction of the packets.
    pub direction: Direction,
}

/// Where a loss stage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCounter {
    /// The drops of a queue.
    Queue(Handle),
    /// The drops of an action on packets that come in.
    Ingress,
    /// The drops of an action on packets that go out.
    Egress,
}

/// A path that stands.
#[derive(Debug)]
pub struct Testbed {
    /// All hosts, client first, server last.
    pub hosts: Vec<Node>,
    /// Queues worth watching.
    pub queues: Vec<WatchedQueue>,
    /// Stages that lose packets on purpose.
    pub losses: Vec<LossStage>,
}

impl Testbed {
    /// The near end.
    pub fn client(&self) -> &Node {
        &self.hosts[0]
    }

    /// The far end.
    pub fn server(&self) -> &Node {
        &self.hosts[self.hosts.len() - 1]
    }
}

/// Why a testbed could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The kernel refused something.
    #[error("on {host}: {source}")]
    Kernel {
        /// The host it was for.
        host: &'static str,
        /// What and why.
        source: NetlinkError,
    },
    /// Something other than netlink failed.
    #[error("on {host}: {source}")]
    System {
        /// The host it was for.
        host: &'static str,
        /// What and why.
        source: io::Error,
    },
}

/// Builds the path of a cell.
pub fn build(cell: &Cell, timers: Timers) -> Result<Testbed, BuildError> {
    let plan = Plan::new(cell, timers);
    let mut hosts = Vec::new();
    for host in &plan.hosts {
        hosts.push(make_host(host)?);
    }
    let mut bed = Testbed {
        hosts,
        queues: Vec::new(),
        losses: Vec::new(),
    };
    for (index, link) in plan.links.iter().enumerate() {
        make_link(&bed.hosts, index, link, cell.path.mtu)?;
    }
    for index in 0..bed.hosts.len() {
        make_routes(&bed.hosts[index], &plan, index)?;
    }
    // Queues come last: what the set-up itself sends must not wait in them.
    for (index, link) in plan.links.iter().enumerate() {
        dress(&mut bed, cell, &plan, timers, index, link.client_side, 1)?;
        dress(
            &mut bed,
            cell,
            &plan,
            timers,
            index + 1,
            link.server_side,
            0,
        )?;
    }
    make_tunnel(&mut bed, cell, &plan)?;
    name_ends(&mut bed, cell, &plan);
    Ok(bed)
}

fn kernel(host: &'static str) -> impl Fn(NetlinkError) -> BuildError {
    move |source| BuildError::Kernel { host, source }
}

fn system(host: &'static str) -> impl Fn(io::Error) -> BuildError {
    move |source| BuildError::System { host, source }
}

fn make_host(host: &Host) -> Result<Node, BuildError> {
    let ns = Netns::create().map_err(system(host.name))?;
    ns.loopback_up().map_err(kernel(host.name))?;
    ns.run(|| {
        host.sysctls
            .iter()
            .try_for_each(|(name, value)| match sysctl::write(name, value) {
                // A kernel without IPv6 has none of its settings, and needs none.
                Err(e)
                    if name.starts_with("net.ipv6") && e.io().kind() == io::ErrorKind::NotFound =>
                {
                    Ok(())
                }
                done => done.map_err(io::Error::other),
            })
    })
    .and_then(|done| done)
    .map_err(system(host.name))?;
    Ok(Node {
        name: host.name,
        ns,
        address: None,
        underlay: None,
    })
}

fn make_link(hosts: &[Node], index: usize, link: &Link, mtu: u32) -> Result<(), BuildError> {
    let (left, right) = (&hosts[index], &hosts[index + 1]);
    let fault = kernel(left.name);
    let mut nl = left.ns.route().map_err(&fault)?;
    let new = |name, side| NewLink {
        mtu: Some(mtu),
        mac: Some(address::mac(link.number, side)),
        queues: Some(1),
        ..NewLink::named(name)
    };
    let near = new(DEVICES[1], Side::Client);
    let far = NewLink {
        netns: Some(right.ns.fd()),
        ..new(DEVICES[0], Side::Server)
    };
    link::create_veth(&mut nl, &near, &far).map_err(&fault)?;
    number(&left.ns, DEVICES[1], link, Side::Client).map_err(&fault)?;
    number(&right.ns, DEVICES[0], link, Side::Server).map_err(kernel(right.name))
}

/// Gives a device its addresses, its neighbour, and sets it up.
fn number(ns: &Netns, device: &str, link: &Link, side: Side) -> Result<(), NetlinkError> {
    let mut nl = ns.route()?;
    let index = link::index(&mut nl, device)?;
    let other = if side == Side::Client {
        Side::Server
    } else {
        Side::Client
    };
    link::set_up(&mut nl, index)?;
    for &ip in &link.families {
        let own = address::host(ip, link.number, side);
        link::add_address(&mut nl, index, own, address::prefix(ip))?;
        let neighbour = address::host(ip, link.number, other);
        link::add_neighbour(&mut nl, index, neighbour, address::mac(link.number, other))?;
    }
    Ok(())
}

fn make_routes(node: &Node, plan: &Plan, host: usize) -> Result<(), BuildError> {
    let fault = kernel(node.name);
    let mut nl = node.ns.route().map_err(&fault)?;
    for (network, side) in plan.remote_networks(host) {
        let gateway_link = match side {
            Side::Client => &plan.links[host - 1],
            Side::Server => &plan.links[host],
        };
        let Some(target) = plan.links.iter().find(|l| l.number == network) else {
            continue;
        };
        for &ip in &target.families {
            // A network of another family than the link on the way is reached by the tunnel.
            if !gateway_link.families.contains(&ip) {
                continue;
            }
            let via = address::host(ip, gateway_link.number, side);
            let route = Route {
                to: address::network(ip, network),
                via: Some(via),
                dev: None,
                metric: Some(100),
            };
            link::add_route(&mut nl, &route).map_err(&fault)?;
        }
    }
    Ok(())
}

/// Gives one device what its stage asks for.
fn dress(
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

fn make_tunnel(bed: &mut Testbed, cell: &Cell, plan: &Plan) -> Result<(), BuildError> {
    let (Some(tunnel), Some((near, far))) = (&cell.tunnel, plan.tunnel) else {
        return Ok(());
    };
    let at_ends = tunnel.at == TunnelAt::Ends;
    // Behind a router lies its LAN; behind an end nothing.
    let (client_lan, server_lan) = if at_ends {
        (vec![], vec![])
    } else {
        (vec![1], vec![5])
    };
    let outer = cell.path.ip;
    // The outer link of the near host is number 2, of the far one number 4.
    let node = &bed.hosts[near];
    tunnel::make(&node.ns, tunnel, Side::Client, outer, 4, &server_lan)
        .map_err(kernel(node.name))?;
    let node = &bed.hosts[far];
    tunnel::make(&node.ns, tunnel, Side::Server, outer, 2, &client_lan).map_err(kernel(node.name))
}

fn name_ends(bed: &mut Testbed, cell: &Cell, plan: &Plan) {
    let last = bed.hosts.len() - 1;
    let outer = |number, side| address::host(cell.path.ip, number, side);
    let inner = |ip: IpVersion, number, side| address::host(ip, number, side);
    for (index, side) in [(0, Side::Client), (last, Side::Server)] {
        let link = if index == 0 {
            &plan.links[0]
        } else {
            &plan.links[last - 1]
        };
        let (address, underlay) = match &cell.tunnel {
            None => (outer(link.number, side), Some(outer(link.number, side))),
            Some(t) if t.at == TunnelAt::Ends => {
                (inner(t.ip, TUNNEL, side), Some(outer(link.number, side)))
            }
            Some(t) => (inner(t.ip, link.number, side), None),
        };
        bed.hosts[index].address = Some(address);
        bed.hosts[index].underlay = underlay;
    }
}
