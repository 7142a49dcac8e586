//! The path to an address: route, devices and tunnel, then recursively for the tunnel's far end.

use std::net::IpAddr;

use model::{
    facts::{LayerFacts, PathFacts},
    text,
};
use sys::{link::Link, route::Query};

use super::{device, notes::Notes, stack::Stack, tunnel::facts as tunnel_facts};

/// Tunnels in tunnels are followed this deep.
const MAX_LAYERS: usize = 4;
/// Devices below each other are followed this deep.
const MAX_DEVICES: usize = 8;

pub(super) fn facts(toward: IpAddr, notes: &mut Notes) -> PathFacts {
    let mut path = PathFacts {
        toward,
        layers: Vec::new(),
    };
    let Some(mut stack) = notes.keep(Stack::open(), |error| {
        text!(
            "cannot query routes and devices: {error}",
            error = error.cause()
        )
    }) else {
        return path;
    };
    let mut next = Some(Query::to(toward));
    while let Some(query) = next.take()
        && path.layers.len() < MAX_LAYERS
        && !path.layers.iter().any(|l| l.toward == query.to)
    {
        let (layer, below) = layer(&mut stack, query, notes);
        path.layers.push(layer);
        next = below;
    }
    path
}

/// A layer, and the query for the next one.
fn layer(stack: &mut Stack, query: Query, notes: &mut Notes) -> (LayerFacts, Option<Query>) {
    let mut layer = LayerFacts {
        toward: query.to,
        route: None,
        devices: Vec::new(),
        tunnel: None,
    };
    let Some(route) = notes.keep(stack.resolve(query), |error| {
        text!(
            "cannot find the route to {address}: {error}",
            address = query.to,
            error = error.cause()
        )
    }) else {
        return (layer, None);
    };
    layer.route = Some(stack.facts(&route));
    let first = route.link.and_then(|index| stack.link(index));
    let neighbour = route.via.unwrap_or(query.to);
    let links = chain(stack, first.as_slice(), neighbour);
    for link in &links {
        layer.devices.push(device::facts(stack, link, notes));
    }
    if route.local {
        return (layer, None);
    }
    let found = tunnel_facts(&links, query.to, notes);
    let (tunnel, next) = found.unzip();
    layer.tunnel = tunnel;
    (layer, next.flatten())
}

/// The links from the first down to the lowest.
fn chain(stack: &mut Stack, first: &[Link], neighbour: IpAddr) -> Vec<Link> {
    let mut all = first.to_vec();
    let mut at = 0;
    while at < all.len() && all.len() < MAX_DEVICES {
        let link = all[at].clone();
        for below in stack.below(&link, neighbour) {
            if all.iter().all(|l| l.index != below.index) {
                all.push(below);
            }
        }
        at += 1;
    }
    all
}
