//! MTU of a device.

use std::{collections::BTreeSet, fs};

use model::{
    change::{Blob, LinkMtu, Saved, Setting},
    text::Text,
};
use sys::{
    Netlink,
    link::{self, Link},
    route::table::{self, Entry},
    sysctl,
};

use super::route::is_advertised;
use crate::error::{HostError, Refusal, RefusalReason};

/// Below this MTU a device loses all IPv6 addresses, routes and parameters, of which only the
/// link-local address returns (RFC 8200 section 5; net/ipv6/addrconf.c: `addrconf_notify`, Linux
/// 6.18).
const IPV6_MIN: u32 = 1280;

/// Minimum MTU of every IPv4 host (RFC 791). Below 68 a device would lose its IPv4 addresses.
const IPV4_MIN: u32 = 576;

pub(super) fn read(nl: &mut Netlink, index: u32, device: &str) -> Result<Saved, HostError> {
    let links = link::list(nl)?;
    let own = links.iter().find(|l| l.index == index);
    let own = own.ok_or_else(|| HostError::NoDevice(device.to_owned()))?;
    let mut ipv6_bytes = ipv6_mtu(device);
    let mut routes = Vec::new();
    for entry in table::entries(nl)? {
        if entry.link() != Some(index) || !is_ipv6_with_mtu(&entry) {
            continue;
        }
        match is_advertised(&entry) {
            // The next advertisement sets the MTU of its routes, but only if that of IPv6 differs
            // (net/ipv6/ndisc.c: `ndisc_router_discovery`, Linux 7.2).
            true => ipv6_bytes = None,
            false => routes.push(Blob(entry.bytes().to_vec())),
        }
    }
    routes.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Saved::Mtu {
        bytes: own.mtu,
        above: above(&links, index),
        ipv6_bytes,
        routes,
    })
}

pub(super) fn check(setting: &Setting, device: &str, bytes: u32) -> Result<Vec<Text>, Refusal> {
    if bytes < IPV4_MIN {
        let reason = RefusalReason::BelowIpv4 { least: IPV4_MIN };
        return Err(Refusal::new(setting, reason));
    }
    if bytes < IPV6_MIN && has_ipv6(device) {
        let reason = RefusalReason::BelowIpv6 {
            device: device.to_owned(),
            least: IPV6_MIN,
        };
        return Err(Refusal::new(setting, reason));
    }
    Ok(Vec::new())
}

pub(super) fn restore(
    nl: &mut Netlink,
    index: u32,
    device: &str,
    setting: &Setting,
    old: &Saved,
) -> Result<(), HostError> {
    let Saved::Mtu {
        bytes,
        above: old_above,
        ipv6_bytes,
        routes,
    } = old
    else {
        return Err(HostError::unusable(setting));
    };
    if link::show(nl, index)?.mtu != *bytes {
        link::set_mtu(nl, index, *bytes)?;
    }
    let links = link::list(nl)?;
    for saved in old_above {
        let changed = links
            .iter()
            .find(|l| l.name == saved.device && l.mtu != saved.bytes);
        if let Some(link) = changed {
            link::set_mtu(nl, link.index, saved.bytes)?;
        }
    }
    if let Some(bytes) = ipv6_bytes.filter(|b| ipv6_mtu(device).is_some_and(|now| now != *b)) {
        sysctl::write(&ipv6_parameter(device), &bytes.to_string())?;
    }
    let now = table::entries(nl)?;
    for route in routes {
        let entry = Entry::from_bytes(&route.0).ok_or_else(|| HostError::unusable(setting))?;
        // The kernel changes routes with the MTU of their device, and removes none.
        let mut present = now.iter().filter(|now| !is_advertised(now));
        let changed = present.find(|now| is_same_route(now, &entry));
        if changed.is_some_and(|now| now.bytes() != entry.bytes()) {
            table::replace(nl, &entry)?;
        }
    }
    Ok(())
}

fn is_same_route(a: &Entry, b: &Entry) -> bool {
    let key = |e: &Entry| (e.prefix(), e.table(), e.priority(), e.link(), e.via());
    key(a) == key(b)
}

/// The devices on top of a device, directly or not: their MTU follows it down, never up
/// (net/8021q/vlan.c: `vlan_device_event`; net/bridge/br_if.c: `br_mtu_auto_adjust`).
fn above(links: &[Link], index: u32) -> Vec<LinkMtu> {
    let found = indexes_above(links, index);
    let of = |l: &Link| LinkMtu {
        device: l.name.clone(),
        bytes: l.mtu,
    };
    links
        .iter()
        .filter(|l| found.contains(&l.index))
        .map(of)
        .collect()
}

/// Returns true if a device is on top of another one, directly or not.
pub(super) fn is_above(links: &[Link], below: u32, index: u32) -> bool {
    indexes_above(links, below).contains(&index)
}

fn indexes_above(links: &[Link], index: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::from([index]);
    loop {
        let more: Vec<u32> = links
            .iter()
            .filter(|l| !found.contains(&l.index))
            .filter(|l| is_on(l, links, &found))
            .map(|l| l.index)
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    found.remove(&index);
    found
}

/// The two ends of a veth name each other; neither is above the other.
fn is_on(link: &Link, links: &[Link], below: &BTreeSet<u32>) -> bool {
    let on_one =
        link.below.is_some_and(|b| below.contains(&b)) && link.kind.as_deref() != Some("veth");
    let has_port = links
        .iter()
        .any(|l| below.contains(&l.index) && l.master == Some(link.index));
    on_one || has_port
}

fn is_ipv6_with_mtu(entry: &Entry) -> bool {
    let ipv6 = entry.prefix().is_some_and(|(address, _)| address.is_ipv6());
    ipv6 && entry.metrics().mtu.is_some()
}

fn ipv6_parameter(device: &str) -> String {
    format!("net/ipv6/conf/{device}/mtu")
}

fn ipv6_mtu(device: &str) -> Option<u32> {
    sysctl::read(&ipv6_parameter(device)).ok()?.parse().ok()
}

/// Returns true if a device has an IPv6 address. The last field of a line of `if_inet6` is its
/// device (net/ipv6/addrconf.c: `if6_seq_show`).
fn has_ipv6(device: &str) -> bool {
    let all = fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
    all.lines()
        .any(|line| line.split_whitespace().next_back() == Some(device))
}
