//! Kernel queries about links and routes, through sockets that are opened once.

use std::net::IpAddr;

use model::{facts::RouteFacts, text};
use sys::{
    Netlink, NetlinkError,
    link::{self, Link},
    neighbour,
    route::{self, Query, Resolved},
};

use super::{notes::Notes, sysfs};

/// Sockets, and the links as they were when they were opened.
pub(super) struct Stack {
    pub(super) route: Netlink,
    generic: Option<Netlink>,
    pub(super) links: Vec<Link>,
    /// True if /sys shows the same links.
    pub(super) sysfs: bool,
}

impl Stack {
    pub(super) fn open() -> Result<Stack, NetlinkError> {
        let mut route = Netlink::route()?;
        let links = link::list(&mut route)?;
        Ok(Stack {
            sysfs: sysfs::fits(&links),
            route,
            generic: None,
            links,
        })
    }

    /// A socket for generic netlink; a kernel may lack it.
    pub(super) fn generic(&mut self, notes: &mut Notes) -> Option<&mut Netlink> {
        if self.generic.is_none() {
            self.generic = notes.keep(Netlink::generic(), |error| {
                text!(
                    "cannot query generic netlink: {error}",
                    error = error.cause()
                )
            });
        }
        self.generic.as_mut()
    }

    pub(super) fn link(&self, index: u32) -> Option<Link> {
        self.links.iter().find(|l| l.index == index).cloned()
    }

    pub(super) fn resolve(&mut self, query: Query) -> Result<Resolved, NetlinkError> {
        route::lookup(&mut self.route, query)
    }

    /// The links below one, toward a neighbour.
    pub(super) fn below(&mut self, link: &Link, neighbour: IpAddr) -> Vec<Link> {
        let indices: Vec<u32> = match link.kind.as_deref() {
            Some("vlan" | "macvlan" | "macvtap" | "ipvlan" | "dsa") => {
                link.below.into_iter().collect()
            }
            Some("bridge") => self.port(link, neighbour).into_iter().collect(),
            Some("bond" | "team") => self.parts(link.index),
            _ => Vec::new(),
        };
        indices.into_iter().filter_map(|i| self.link(i)).collect()
    }

    fn parts(&self, master: u32) -> Vec<u32> {
        let parts = self.links.iter().filter(|l| l.master == Some(master));
        parts.map(|l| l.index).collect()
    }

    /// The port of a bridge that leads to a neighbour: the only one, or the one where it was last
    /// heard.
    fn port(&mut self, bridge: &Link, address: IpAddr) -> Option<u32> {
        if let [only] = self.parts(bridge.index)[..] {
            return Some(only);
        }
        let mac = neighbour::mac(&mut self.route, bridge.index, address).ok()??;
        neighbour::bridge_port(&mut self.route, bridge.index, mac).ok()?
    }

    /// A resolved route as facts.
    pub(super) fn facts(&self, route: &Resolved) -> RouteFacts {
        let metrics = route.metrics.clone();
        RouteFacts {
            prefix: route.prefix.map(|(to, len)| format!("{to}/{len}")),
            table: route.table,
            local: route.local,
            via: route.via,
            device: route.link.and_then(|i| self.link(i)).map(|l| l.name),
            source: route.source,
            mtu: metrics.mtu,
            mtu_locked: metrics.mtu_locked,
            advmss: metrics.advmss,
            congctl: metrics.congctl,
            initcwnd: metrics.initcwnd,
            initrwnd: metrics.initrwnd,
            ecn: metrics.ecn,
        }
    }
}
