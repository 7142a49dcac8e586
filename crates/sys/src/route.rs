//! Route lookups, as resolved by the kernel.
//!
//! Numbers are from include/uapi/linux/rtnetlink.h, Linux 7.2.

pub mod table;

use std::net::{IpAddr, Ipv6Addr};

use crate::bytes;
use crate::netlink::{Attr, Attrs, Message, Netlink, NetlinkError};

const RTM_GETROUTE: u16 = 26;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
const RTA_TABLE: u16 = 15;
const RTA_MARK: u16 = 16;
const RTA_VIA: u16 = 18;
const RTAX_LOCK: u16 = 1;
const RTAX_MTU: u16 = 2;
const RTAX_ADVMSS: u16 = 8;
const RTAX_INITCWND: u16 = 11;
const RTAX_FEATURES: u16 = 12;
const RTAX_INITRWND: u16 = 14;
const RTAX_CC_ALGO: u16 = 16;
const RTAX_FEATURE_ECN: u32 = 1;
/// The reply contains the table in which the route was found (`RTM_F_LOOKUP_TABLE`).
const RTM_F_LOOKUP_TABLE: u32 = 0x1000;
/// The reply is the table entry with its prefix instead of the resolved route (`RTM_F_FIB_MATCH`,
/// since Linux 4.13).
const RTM_F_FIB_MATCH: u32 = 0x2000;
const RTN_LOCAL: u8 = 2;
/// Size of `struct rtmsg`.
const RTMSG_LEN: usize = 12;

/// A lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Destination.
    pub to: IpAddr,
    /// Mark of the packet (`SO_MARK`), which policy rules may match.
    pub mark: Option<u32>,
    /// Index of the outgoing link; required for link-local destinations.
    pub link: Option<u32>,
}

impl Query {
    /// A packet without a mark.
    pub fn to(to: IpAddr) -> Query {
        Query {
            to,
            mark: None,
            link: None,
        }
    }
}

/// A resolved route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// True if the destination is this host.
    pub local: bool,
    /// Index of the link.
    pub link: Option<u32>,
    /// Next hop; absent = the destination is on-link.
    pub via: Option<IpAddr>,
    /// Preferred source address.
    pub source: Option<IpAddr>,
    /// Number of the table.
    pub table: Option<u32>,
    /// Matched prefix and its length; absent before Linux 4.13.
    pub prefix: Option<(IpAddr, u8)>,
    /// Metrics of the route.
    pub metrics: Metrics,
}

/// Metrics of a route (`RTAX_*`). Absent = not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// MTU of the route, configured or learned, bytes.
    pub mtu: Option<u32>,
    /// True if the MTU is locked.
    pub mtu_locked: bool,
    /// Announced MSS, bytes.
    pub advmss: Option<u32>,
    /// Initial congestion window, segments.
    pub initcwnd: Option<u32>,
    /// Initial receive window, segments.
    pub initrwnd: Option<u32>,
    /// Congestion control.
    pub congctl: Option<String>,
    /// True if it requests ECN.
    pub ecn: bool,
}

/// Looks up the route to a destination in the socket's namespace.
///
/// # Errors
/// `ENETUNREACH` if there is no route; the socket failed.
pub fn lookup(nl: &mut Netlink, query: Query) -> Result<Resolved, NetlinkError> {
    let mut route = request(nl, query, RTM_F_LOOKUP_TABLE)?;
    // The table entry, for its prefix and configured metrics. Older kernels ignore the flag and
    // repeat the host route of the first reply.
    if let Ok(entry) = request(nl, query, RTM_F_LOOKUP_TABLE | RTM_F_FIB_MATCH) {
        let learned = route.metrics.mtu.take();
        route.prefix = entry.prefix;
        route.table = entry.table.or(route.table);
        route.metrics = entry.metrics;
        route.metrics.mtu = learned.or(route.metrics.mtu);
    } else {
        route.prefix = None;
    }
    Ok(route)
}

fn request(nl: &mut Netlink, query: Query, flags: u32) -> Result<Resolved, NetlinkError> {
    let (family, bits) = match query.to {
        IpAddr::V4(_) => (libc::AF_INET as u8, 32),
        IpAddr::V6(_) => (libc::AF_INET6 as u8, 128),
    };
    let mut m = Message::new(RTM_GETROUTE, 0);
    m.raw(&[family, bits, 0, 0, 0, 0, 0, 0])
        .raw(&flags.to_ne_bytes())
        .ip(RTA_DST, query.to)
        .opt_u32(RTA_MARK, query.mark)
        .opt_u32(RTA_OIF, query.link);
    let op = format_args!("look up the route to {}", query.to).to_string();
    let mut found = None;
    nl.get(&mut m, &op, |payload| found = parse(payload))?;
    found.ok_or_else(|| NetlinkError::malformed(op))
}

pub(crate) fn parse(payload: &[u8]) -> Option<Resolved> {
    let family = i32::from(bytes::u8_at(payload, 0)?);
    let prefix_len = bytes::u8_at(payload, 1)?;
    let any = if family == libc::AF_INET6 {
        IpAddr::V6(Ipv6Addr::UNSPECIFIED)
    } else {
        IpAddr::from([0, 0, 0, 0])
    };
    let mut route = Resolved {
        local: bytes::u8_at(payload, 7)? == RTN_LOCAL,
        table: bytes::u8_at(payload, 4).map(u32::from),
        prefix: Some((any, prefix_len)),
        ..Resolved::default()
    };
    for attr in Attrs::after(payload, RTMSG_LEN) {
        match attr.kind {
            RTA_DST => route.prefix = attr.ip().map(|ip| (ip, prefix_len)),
            RTA_OIF => route.link = attr.u32(),
            RTA_GATEWAY => route.via = attr.ip(),
            RTA_VIA => route.via = via(attr),
            RTA_PREFSRC => route.source = attr.ip(),
            RTA_TABLE => route.table = attr.u32(),
            RTA_METRICS => route.metrics = metrics(attr.nested()),
            _ => {}
        }
    }
    Some(route)
}

/// `struct rtvia`: a next hop of the other family.
fn via(attr: Attr<'_>) -> Option<IpAddr> {
    Attr {
        kind: attr.kind,
        payload: attr.payload.get(2..)?,
    }
    .ip()
}

fn metrics(attrs: Attrs<'_>) -> Metrics {
    let number = |kind| attrs.get(kind).and_then(|a| a.u32()).filter(|&v| v != 0);
    let locks = number(RTAX_LOCK).unwrap_or(0);
    Metrics {
        mtu: number(RTAX_MTU),
        mtu_locked: locks & (1 << RTAX_MTU) != 0,
        advmss: number(RTAX_ADVMSS),
        initcwnd: number(RTAX_INITCWND),
        initrwnd: number(RTAX_INITRWND),
        congctl: attrs
            .get(RTAX_CC_ALGO)
            .and_then(|a| a.str().map(str::to_owned)),
        ecn: number(RTAX_FEATURES).unwrap_or(0) & RTAX_FEATURE_ECN != 0,
    }
}

#[cfg(test)]
mod tests;
