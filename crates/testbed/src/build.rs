//! Construction of a plan in the kernel of this process.

use std::io;

use model::{
    cell::{Cell, PathEngine, TunnelAt},
    net::{IpVersion, Side},
};
use sys::{
    NetlinkError, Netns,
    link::{self, NewLink, Route},
    sysctl,
};

use crate::{
    address::{self, TUNNEL},
    apply::{Place, apply},
    bed::{BuildError, Node, Testbed, kernel, system},
    plan::{DEVICES, Host, Link, Plan, THIRD, THIRD_LINK},
    queues::Timers,
    tunnel,
};

/// Builds the path of a cell.
///
/// # Errors
/// The kernel lacks or refuses something that the path needs.
pub fn build(cell: &Cell, timers: Timers) -> Result<Testbed, BuildError> {
    let cell = &Cell {
        engine: engine_here(cell, timers),
        ..cell.clone()
    };
    let plan = Plan::new(cell, timers);
    let mut hosts = Vec::new();
    for host in &plan.hosts {
        hosts.push(make_host(host)?);
    }
    let mut bed = Testbed {
        hosts,
        queues: Vec::new(),
        losses: Vec::new(),
        rate_changes: Vec::new(),
    };
    for (index, link) in plan.links.iter().enumerate() {
        make_link(&bed.hosts, index, link, cell.path.mtu)?;
    }
    for index in 0..bed.hosts.len() {
        make_routes(&bed.hosts[index], &plan, index)?;
    }
    // Queues are added last: packets of the set-up must not wait in them.
    for (index, link) in plan.links.iter().enumerate() {
        for (host, device, stage) in [(index, 1, link.near_side), (index + 1, 0, link.far_side)] {
            apply(&mut bed, cell, &plan, timers, Place { host, device }, stage)?;
        }
    }
    make_tunnel(&mut bed, cell, &plan)?;
    name_ends(&mut bed, cell, &plan);
    Ok(bed)
}

/// True if routers hand packets on in the context of the sender: patch 0021 of the lab's kernel.
const FORWARD: &str = "dev.veth.forward";

/// Sets this kernel to the engine of a cell, as far as it has it: only the lab's own has that of
/// the device, which needs exact timers.
fn engine_here(cell: &Cell, timers: Timers) -> PathEngine {
    let device = cell.engine == PathEngine::Device && timers == Timers::Exact;
    let _ = sysctl::write(FORWARD, if device { "1" } else { "0" });
    engine_in_use(cell, timers)
}

/// The engine by which a cell's path was built on this kernel.
pub(crate) fn engine_in_use(cell: &Cell, timers: Timers) -> PathEngine {
    let forwards = sysctl::read(FORWARD).is_ok_and(|value| value.trim() == "1");
    if forwards && timers == Timers::Exact {
        cell.engine
    } else {
        PathEngine::Chain
    }
}

fn make_host(host: &Host) -> Result<Node, BuildError> {
    let ns = Netns::create().map_err(system(host.name))?;
    ns.loopback_up().map_err(kernel(host.name))?;
    ns.run(|| {
        host.sysctls
            .iter()
            .try_for_each(|(name, value)| match sysctl::write(name, value) {
                // A kernel without IPv6 has no such settings, and needs none.
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
    let near = new(DEVICES[1], Side::Near);
    let far = NewLink {
        netns: Some(right.ns.fd()),
        ..new(DEVICES[0], Side::Far)
    };
    link::create_veth(&mut nl, &near, &far).map_err(&fault)?;
    number(&left.ns, DEVICES[1], link, Side::Near).map_err(&fault)?;
    number(&right.ns, DEVICES[0], link, Side::Far).map_err(kernel(right.name))
}

/// Configures the addresses and the neighbour of a device, and sets it up.
fn number(ns: &Netns, device: &str, link: &Link, side: Side) -> Result<(), NetlinkError> {
    let mut nl = ns.route()?;
    let index = link::index(&mut nl, device)?;
    let other = side.other();
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
            Side::Near => &plan.links[host - 1],
            Side::Far => &plan.links[host],
        };
        let Some(target) = plan.links.iter().find(|l| l.number == network) else {
            continue;
        };
        for &ip in &target.families {
            // A network of another family than the link on the route is reached by the tunnel.
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

fn make_tunnel(bed: &mut Testbed, cell: &Cell, plan: &Plan) -> Result<(), BuildError> {
    let (Some(tunnel), Some((near, far))) = (&cell.tunnel, plan.tunnel) else {
        return Ok(());
    };
    let at_ends = tunnel.at == TunnelAt::Ends;
    // Behind a router is its LAN; behind an end nothing.
    let (near_lan, far_lan) = if at_ends {
        (vec![], vec![])
    } else {
        (vec![1], vec![5])
    };
    let outer = cell.path.ip;
    // The outer link of the near host is number 2, of the far one number 4.
    let node = &bed.hosts[near];
    tunnel::make(&node.ns, tunnel, Side::Near, outer, 4, &far_lan).map_err(kernel(node.name))?;
    let node = &bed.hosts[far];
    tunnel::make(&node.ns, tunnel, Side::Far, outer, 2, &near_lan).map_err(kernel(node.name))
}

fn name_ends(bed: &mut Testbed, cell: &Cell, plan: &Plan) {
    let last = bed.hosts.len() - 1;
    let outer = |number, side| address::host(cell.path.ip, number, side);
    let inner = |ip: IpVersion, number, side| address::host(ip, number, side);
    for (index, side) in [(0, Side::Near), (last, Side::Far)] {
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
    if let Some((_, far)) = plan.tunnel.filter(|(_, far)| *far != last) {
        bed.hosts[far].underlay = Some(outer(4, Side::Far));
    }
    if let Some(third) = bed.hosts.iter_mut().find(|host| host.name == THIRD) {
        third.underlay = Some(outer(THIRD_LINK, Side::Far));
    }
}
