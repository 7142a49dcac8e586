//! Addresses, routes and neighbours.

use std::fmt;
use std::net::IpAddr;

use crate::netlink::{Message, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, Netlink, NetlinkError};

/// A hardware address.
pub type Mac = [u8; 6];

const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const RTM_NEWNEIGH: u16 = 28;

const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// No duplicate address detection: the address is usable immediately.
const IFA_F_NODAD: u8 = 0x02;

const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_UNIVERSE: u8 = 0;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;

const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
const NUD_PERMANENT: u16 = 0x80;

/// Adds an address with its prefix length; an IPv6 address is usable immediately.
///
/// # Errors
/// No such link, or it has the address already.
pub fn add_address(
    nl: &mut Netlink,
    index: u32,
    address: IpAddr,
    prefix_len: u8,
) -> Result<(), NetlinkError> {
    let mut m = address_message(index, address, prefix_len);
    nl.request(
        &mut m,
        format_args!("add address {address}/{prefix_len} to link {index}"),
    )
}

pub(super) fn address_message(index: u32, address: IpAddr, prefix_len: u8) -> Message {
    let flags = if address.is_ipv6() { IFA_F_NODAD } else { 0 };
    let mut m = Message::new(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
    let mut header = [
        family(address),
        prefix_len,
        flags,
        RT_SCOPE_UNIVERSE,
        0,
        0,
        0,
        0,
    ];
    header[4..].copy_from_slice(&index.to_ne_bytes());
    m.raw(&header)
        .ip(IFA_LOCAL, address)
        .ip(IFA_ADDRESS, address);
    m
}

/// A route in the main table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Destination: address and prefix length. The unspecified address with length 0 is the default
    /// route of its family.
    pub to: (IpAddr, u8),
    /// The gateway; absent = the destination is on-link.
    pub via: Option<IpAddr>,
    /// Index of the outgoing link; may be absent with a gateway.
    pub dev: Option<u32>,
    /// Lower is preferred; absent = the kernel's default (IPv4 0, IPv6 1024).
    pub metric: Option<u32>,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.to.0, self.to.1)?;
        if let Some(via) = self.via {
            write!(f, " via {via}")?;
        }
        if let Some(dev) = self.dev {
            write!(f, " by link {dev}")?;
        }
        Ok(())
    }
}

/// Adds a route, or replaces the one to the same destination with the same metric.
///
/// # Errors
/// The gateway cannot be reached, the link is down or missing.
pub fn add_route(nl: &mut Netlink, route: &Route) -> Result<(), NetlinkError> {
    let mut m = route_message(route);
    nl.request(&mut m, format_args!("add the route {route}"))
}

pub(super) fn route_message(route: &Route) -> Message {
    let (to, prefix_len) = route.to;
    let scope = if route.via.is_none() && to.is_ipv4() {
        RT_SCOPE_LINK
    } else {
        RT_SCOPE_UNIVERSE
    };
    let mut m = Message::new(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
    let head = [
        family(to),
        prefix_len,
        0,
        0,
        RT_TABLE_MAIN,
        RTPROT_STATIC,
        scope,
        RTN_UNICAST,
    ];
    m.raw(&head).raw(&[0; 4]);
    if prefix_len > 0 {
        m.ip(RTA_DST, to);
    }
    if let Some(via) = route.via {
        m.ip(RTA_GATEWAY, via);
    }
    m.opt_u32(RTA_PRIORITY, route.metric);
    m.opt_u32(RTA_OIF, route.dev);
    m
}

/// Adds a permanent neighbour entry, so that no ARP or ND traffic disturbs a path.
///
/// # Errors
/// No such link, or it has no hardware addresses.
pub fn add_neighbour(
    nl: &mut Netlink,
    index: u32,
    address: IpAddr,
    mac: Mac,
) -> Result<(), NetlinkError> {
    let mut m = neighbour_message(index, address, mac);
    nl.request(
        &mut m,
        format_args!("add neighbour {address} to link {index}"),
    )
}

pub(super) fn neighbour_message(index: u32, address: IpAddr, mac: Mac) -> Message {
    let mut m = Message::new(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
    let mut header = [0; 12];
    header[0] = family(address);
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    header[8..10].copy_from_slice(&NUD_PERMANENT.to_ne_bytes());
    m.raw(&header).ip(NDA_DST, address).attr(NDA_LLADDR, &mac);
    m
}

/// `AF_INET` or `AF_INET6` as the headers of route netlink hold it.
fn family(address: IpAddr) -> u8 {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    family as u8
}
