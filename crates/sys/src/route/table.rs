//! Entries of routing tables as the kernel's bytes, so that an entry is restored with all its
//! attributes.
//!
//! `RTM_NEWROUTE` replaces the whole entry: metrics missing from it are removed
//! (net/ipv4/fib_trie.c: `fib_table_insert`; net/ipv6/ip6_fib.c: `fib6_add_rt2node`, Linux 7.2).

use std::net::IpAddr;

use crate::bytes;
use crate::netlink::{
    Attrs, HEADER_LEN, Message, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, Netlink, NetlinkError,
    align,
};

use super::{
    Metrics, RTA_DST, RTA_GATEWAY, RTA_METRICS, RTA_OIF, RTA_TABLE, RTA_VIA, RTAX_CC_ALGO,
    RTAX_LOCK, RTM_F_FIB_MATCH, RTM_F_LOOKUP_TABLE, RTM_GETROUTE, RTMSG_LEN, metrics, parse,
};

const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const RTA_PRIORITY: u16 = 6;
const RTA_MULTIPATH: u16 = 9;
const RTA_CACHEINFO: u16 = 12;
const RTA_NH_ID: u16 = 30;
const RTN_UNICAST: u8 = 1;
const RTPROT_STATIC: u8 = 4;
const RT_TABLE_UNSPEC: u8 = 0;
/// `RTNH_F_PERVASIVE` and `RTNH_F_ONLINK`: flags that a request may have; the others are only
/// reported by the kernel, which rejects some of them (net/ipv4/fib_semantics.c:
/// `fib_create_info`).
const SETTABLE_FLAGS: u32 = 2 | 4;
/// Flag of a cached exception (include/uapi/linux/rtnetlink.h).
const RTM_F_CLONED: u32 = 0x200;

/// Lock of the congestion control.
const CC_LOCK: u32 = 1 << RTAX_CC_ALGO;

/// Number of the main table (`RT_TABLE_MAIN`).
pub const MAIN: u32 = 254;

/// An entry of a routing table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// `struct rtmsg` and its attributes, without those that the kernel only reports.
    bytes: Vec<u8>,
    /// True if it was read with a time after which it expires, which the kernel only reports.
    expires: bool,
}

impl Entry {
    /// An entry from bytes that [`Entry::bytes`] returned; `None` if they are not one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Entry> {
        let entry = settable(bytes)?;
        // Those of older programs may have flags of next hops.
        (entry.bytes.len() == bytes.len()).then_some(entry)
    }

    /// Its bytes: `struct rtmsg` and attributes in the kernel's order and byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Destination: address and prefix length.
    pub fn prefix(&self) -> Option<(IpAddr, u8)> {
        parse(&self.bytes)?.prefix
    }

    /// Number of its table.
    pub fn table(&self) -> Option<u32> {
        parse(&self.bytes)?.table
    }

    /// Index of its link, if it has one link.
    pub fn link(&self) -> Option<u32> {
        parse(&self.bytes)?.link
    }

    /// Next hop of the entry, if it has one.
    pub fn via(&self) -> Option<IpAddr> {
        parse(&self.bytes)?.via
    }

    /// Its metrics.
    pub fn metrics(&self) -> Metrics {
        metrics(self.metric_attrs())
    }

    /// Returns its origin (`RTPROT_*`): 2 is the kernel, 3 boot, 4 an administrator, 9 router
    /// advertisements, 16 DHCP.
    pub fn protocol(&self) -> u8 {
        bytes::u8_at(&self.bytes, 5).unwrap_or_default()
    }

    /// Its preference: lower comes first.
    pub fn priority(&self) -> u32 {
        self.attr(RTA_PRIORITY)
            .and_then(|a| a.u32())
            .unwrap_or_default()
    }

    /// Returns true if it sends packets to a host or gateway, unlike `blackhole` or `local`.
    pub fn is_unicast(&self) -> bool {
        bytes::u8_at(&self.bytes, 7) == Some(RTN_UNICAST)
    }

    /// Returns true if it expires. Its bytes do not tell.
    pub fn expires(&self) -> bool {
        self.expires
    }

    /// The entry with a congestion control; all other metrics are preserved, except a lock of the
    /// congestion control.
    #[must_use]
    pub fn with_congestion_control(&self, name: &str) -> Entry {
        self.with(Some(name), 0)
    }

    /// The entry with the congestion control of another one, if that has any, and its lock.
    #[must_use]
    pub fn with_congestion_control_of(&self, other: &Entry) -> Entry {
        let name = other.metrics().congctl;
        self.with(name.as_deref(), other.locks() & CC_LOCK)
    }

    fn with(&self, name: Option<&str>, lock: u32) -> Entry {
        let mut m = Message::new(0, 0);
        m.raw(self.head());
        for (kind, whole) in Attrs::after(&self.bytes, RTMSG_LEN).whole() {
            if kind != RTA_METRICS {
                m.raw(whole);
            }
        }
        m.nest(RTA_METRICS, |m| {
            // A metric of 0 is none.
            m.u32(RTAX_LOCK, self.locks() & !CC_LOCK | lock);
            for (kind, whole) in self.metric_attrs().whole() {
                if !matches!(kind, RTAX_LOCK | RTAX_CC_ALGO) {
                    m.raw(whole);
                }
            }
            if let Some(name) = name {
                m.str(RTAX_CC_ALGO, name);
            }
        });
        Entry {
            bytes: m.payload().to_vec(),
            ..*self
        }
    }

    /// A copy for another destination, as an administrator's entry.
    #[must_use]
    pub fn toward(&self, (address, length): (IpAddr, u8)) -> Entry {
        let mut head = self.head().to_vec();
        head[1] = length;
        head[5] = RTPROT_STATIC;
        let mut m = Message::new(0, 0);
        m.raw(&head).ip(RTA_DST, address);
        for (kind, whole) in Attrs::after(&self.bytes, RTMSG_LEN).whole() {
            if kind != RTA_DST {
                m.raw(whole);
            }
        }
        Entry {
            bytes: m.payload().to_vec(),
            expires: false,
        }
    }

    fn metric_attrs(&self) -> Attrs<'_> {
        let metrics = self.attr(RTA_METRICS);
        metrics.map_or(Attrs::new(&[]), |metrics| metrics.nested())
    }

    /// Mask of the metrics that are locked.
    fn locks(&self) -> u32 {
        let locks = self.metric_attrs().get(RTAX_LOCK);
        locks.and_then(|locks| locks.u32()).unwrap_or_default()
    }

    fn head(&self) -> &[u8] {
        &self.bytes[..RTMSG_LEN]
    }

    fn attr(&self, kind: u16) -> Option<crate::netlink::Attr<'_>> {
        Attrs::after(&self.bytes, RTMSG_LEN).get(kind)
    }

    fn message(&self, kind: u16, flags: u16) -> Message {
        let mut m = Message::new(kind, flags);
        m.raw(&self.bytes);
        m
    }
}

/// The entries of all tables of the socket's namespace that are not in the table of local
/// addresses.
///
/// # Errors
/// The socket failed.
pub fn entries(nl: &mut Netlink) -> Result<Vec<Entry>, NetlinkError> {
    /// `RT_TABLE_LOCAL`.
    const LOCAL: u32 = 255;
    let mut all = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut m = Message::new(RTM_GETROUTE, 0);
        m.raw(&[family as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        all.extend(nl.dump(&mut m, "list routes", configured)?);
    }
    all.retain(|entry| entry.table() != Some(LOCAL));
    Ok(all)
}

/// The entry used by packets to an address.
///
/// # Errors
/// `ENETUNREACH` if there is no route; the socket failed; the kernel is older than 4.13 and returns
/// no entries.
pub fn entry_for(nl: &mut Netlink, to: IpAddr) -> Result<Entry, NetlinkError> {
    let (family, bits) = match to {
        IpAddr::V4(_) => (libc::AF_INET as u8, 32),
        IpAddr::V6(_) => (libc::AF_INET6 as u8, 128),
    };
    let mut m = Message::new(RTM_GETROUTE, 0);
    m.raw(&[family, bits, 0, 0, 0, 0, 0, 0])
        .raw(&(RTM_F_LOOKUP_TABLE | RTM_F_FIB_MATCH).to_ne_bytes())
        .ip(RTA_DST, to);
    let op = format!("find the route to {to}");
    let mut found = None;
    nl.get(&mut m, &op, |payload| found = settable(payload))?;
    found.ok_or_else(|| NetlinkError::malformed(op))
}

/// Adds an entry.
///
/// # Errors
/// One with this destination and priority exists, its link is down, or the kernel lacks its
/// congestion control.
pub fn add(nl: &mut Netlink, entry: &Entry) -> Result<(), NetlinkError> {
    let mut m = entry.message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
    nl.request(&mut m, format_args!("add the route {}", name(entry)))
}

/// Replaces the entry with the same destination, priority and table.
///
/// # Errors
/// As [`add`]; or there is no such entry.
pub fn replace(nl: &mut Netlink, entry: &Entry) -> Result<(), NetlinkError> {
    let mut m = entry.message(RTM_NEWROUTE, NLM_F_REPLACE);
    nl.request(&mut m, format_args!("replace the route {}", name(entry)))
}

/// Deletes an entry.
///
/// # Errors
/// There is none.
pub fn delete(nl: &mut Netlink, entry: &Entry) -> Result<(), NetlinkError> {
    let mut m = entry.message(RTM_DELROUTE, 0);
    nl.request(&mut m, format_args!("delete the route {}", name(entry)))
}

fn name(entry: &Entry) -> String {
    match entry.prefix() {
        Some((address, length)) => format!("{address}/{length}"),
        None => "of an unknown family".to_owned(),
    }
}

/// An entry from a dump; `None` for a cached exception, which a dump has too: a path MTU that was
/// learned or a redirect, for one address (net/ipv4/route.c: `fib_dump_info_fnhe`, Linux 7.2).
fn configured(payload: &[u8]) -> Option<Entry> {
    match bytes::u32_at(payload, 8)? & RTM_F_CLONED {
        0 => settable(payload),
        _ => None,
    }
}

/// An entry from a reply, without attributes that the kernel only reports or would refuse.
pub(crate) fn settable(payload: &[u8]) -> Option<Entry> {
    let route = parse(payload)?;
    route.prefix?;
    let mut head = payload.get(..RTMSG_LEN)?.to_vec();
    let flags = bytes::u32_at(&head, 8)? & SETTABLE_FLAGS;
    head[8..].copy_from_slice(&flags.to_ne_bytes());
    let attrs = Attrs::after(payload, RTMSG_LEN);
    // A next hop object excludes a description of the same next hop.
    let by_object = attrs.get(RTA_NH_ID).is_some();
    let described = |kind| matches!(kind, RTA_OIF | RTA_GATEWAY | RTA_VIA | RTA_MULTIPATH);
    if attrs.get(RTA_TABLE).is_some() {
        // The attribute has the whole number.
        head[4] = RT_TABLE_UNSPEC;
    }
    let mut m = Message::new(0, 0);
    m.raw(&head);
    for (kind, whole) in attrs.whole() {
        match kind {
            RTA_CACHEINFO => {}
            _ if by_object && described(kind) => {}
            RTA_MULTIPATH => {
                m.raw(&hops(whole));
            }
            _ => {
                m.raw(whole);
            }
        }
    }
    // `rta_expires` of `struct rta_cacheinfo`; 0 is never (net/core/rtnetlink.c:
    // `rtnl_put_cacheinfo`, Linux 7.2).
    let cache = attrs.get(RTA_CACHEINFO);
    let expires = cache.and_then(|cache| bytes::u32_at(cache.payload, 8));
    Some(Entry {
        bytes: m.payload().to_vec(),
        expires: expires.is_some_and(|ticks| ticks != 0),
    })
}

/// Next hops (`struct rtnexthop`) with the flags that a request may have.
fn hops(whole: &[u8]) -> Vec<u8> {
    let mut hops = whole.to_vec();
    let mut at = HEADER_LEN;
    while let Some(len @ 1..) = bytes::u16_at(&hops, at) {
        if let Some(flags) = hops.get_mut(at + 2) {
            *flags &= SETTABLE_FLAGS as u8;
        }
        at += align(len.into());
    }
    hops
}

#[cfg(test)]
mod tests;
