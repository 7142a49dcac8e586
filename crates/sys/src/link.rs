//! Links: creation, changes, deletion, queries; addresses, routes and neighbours.
//!
//! All calls act in the network namespace in which the socket was opened. Numbers are from
//! include/uapi/linux/{rtnetlink,if_link,veth,if_addr,neighbour}.h, Linux 7.2.

mod address;
mod message;
pub(crate) mod show;

use std::os::fd::{AsRawFd, BorrowedFd};

use crate::netlink::{Message, NLM_F_CREATE, NLM_F_EXCL, Netlink, NetlinkError};

use message::{
    IFF_UP, IFLA_ADDRESS, IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO, IFLA_MTU, IFLA_NUM_RX_QUEUES,
    IFLA_NUM_TX_QUEUES, IFLA_TXQLEN, ifinfomsg,
};

pub use address::{Mac, Route, add_address, add_neighbour, add_route};
pub use show::{Link, LinkCounters, index, list, show};

const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;

const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;

/// Attributes of a new link; absent values are the kernel's defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewLink<'a> {
    /// Name, at most 15 bytes.
    pub name: &'a str,
    /// The namespace to create it in; absent = the socket's.
    pub netns: Option<BorrowedFd<'a>>,
    /// MTU in bytes.
    pub mtu: Option<u32>,
    /// Hardware address; absent = random, which is not reproducible.
    pub mac: Option<Mac>,
    /// Length of the transmit queue in packets (`txqueuelen`), the limit of a pfifo without one.
    pub txqueuelen: Option<u32>,
    /// Number of transmit and of receive queues; the default of veth is one per CPU.
    pub queues: Option<u32>,
}

impl<'a> NewLink<'a> {
    /// A link with a name and the kernel's defaults.
    pub fn named(name: &'a str) -> Self {
        NewLink {
            name,
            ..NewLink::default()
        }
    }

    /// Writes `struct ifinfomsg` and the attributes of the link itself.
    fn encode(&self, m: &mut Message) {
        m.raw(&ifinfomsg(0, 0, 0));
        if let Some(fd) = self.netns {
            m.attr(IFLA_NET_NS_FD, &fd.as_raw_fd().to_ne_bytes());
        }
        m.opt_u32(IFLA_MTU, self.mtu);
        if let Some(mac) = &self.mac {
            m.attr(IFLA_ADDRESS, mac);
        }
        m.opt_u32(IFLA_TXQLEN, self.txqueuelen);
        m.opt_u32(IFLA_NUM_TX_QUEUES, self.queues);
        m.opt_u32(IFLA_NUM_RX_QUEUES, self.queues);
        m.str(IFLA_IFNAME, self.name);
    }
}

/// Creates a veth pair; either end can be in another namespace.
///
/// # Errors
/// A name is taken, too long, or the kernel lacks veth.
pub fn create_veth(
    nl: &mut Netlink,
    near: &NewLink<'_>,
    far: &NewLink<'_>,
) -> Result<(), NetlinkError> {
    let mut m = veth_message(near, far);
    nl.request(
        &mut m,
        format_args!("create the veth pair {} and {}", near.name, far.name),
    )
}

fn veth_message(near: &NewLink<'_>, far: &NewLink<'_>) -> Message {
    let mut m = Message::new(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    near.encode(&mut m);
    m.nest(IFLA_LINKINFO, |m| {
        m.attr(IFLA_INFO_KIND, b"veth");
        m.nest(IFLA_INFO_DATA, |m| {
            m.nest(VETH_INFO_PEER, |m| far.encode(m));
        });
    });
    m
}

/// Creates a dummy link, which drops all packets.
///
/// # Errors
/// The name is taken, too long, or the kernel lacks dummy.
pub fn create_dummy(nl: &mut Netlink, link: &NewLink<'_>) -> Result<(), NetlinkError> {
    create(nl, "dummy", link)
}

/// Creates an intermediate functional block, for queueing of ingress traffic.
///
/// # Errors
/// The name is taken, too long, or the kernel lacks ifb.
pub fn create_ifb(nl: &mut Netlink, link: &NewLink<'_>) -> Result<(), NetlinkError> {
    create(nl, "ifb", link)
}

/// Creates a kernel WireGuard link; its UDP socket stays in the socket's namespace even if the link
/// is moved.
///
/// # Errors
/// The name is taken, too long, or the kernel lacks wireguard.
pub fn create_wireguard(nl: &mut Netlink, link: &NewLink<'_>) -> Result<(), NetlinkError> {
    create(nl, "wireguard", link)
}

fn create(nl: &mut Netlink, kind: &str, link: &NewLink<'_>) -> Result<(), NetlinkError> {
    let mut m = Message::new(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    link.encode(&mut m);
    m.nest(IFLA_LINKINFO, |m| {
        m.attr(IFLA_INFO_KIND, kind.as_bytes());
    });
    nl.request(&mut m, format_args!("create the {kind} link {}", link.name))
}

/// Sets a link up.
///
/// # Errors
/// No such link, or its driver refuses.
pub fn set_up(nl: &mut Netlink, index: u32) -> Result<(), NetlinkError> {
    let mut m = change(index, IFF_UP, IFF_UP);
    nl.request(&mut m, format_args!("set link {index} up"))
}

/// Sets a link down; the kernel then removes its routes.
///
/// # Errors
/// No such link.
pub fn set_down(nl: &mut Netlink, index: u32) -> Result<(), NetlinkError> {
    let mut m = change(index, 0, IFF_UP);
    nl.request(&mut m, format_args!("set link {index} down"))
}

/// Sets the MTU in bytes.
///
/// # Errors
/// No such link, or out of its driver's range.
pub fn set_mtu(nl: &mut Netlink, index: u32, mtu: u32) -> Result<(), NetlinkError> {
    let mut m = change(index, 0, 0);
    m.u32(IFLA_MTU, mtu);
    nl.request(&mut m, format_args!("set the MTU of link {index} to {mtu}"))
}

/// Sets the hardware address.
///
/// # Errors
/// No such link, or its driver refuses.
pub fn set_mac(nl: &mut Netlink, index: u32, mac: Mac) -> Result<(), NetlinkError> {
    let mut m = change(index, 0, 0);
    m.attr(IFLA_ADDRESS, &mac);
    nl.request(
        &mut m,
        format_args!("set the hardware address of link {index}"),
    )
}

/// Sets the length of the transmit queue in packets.
///
/// # Errors
/// No such link.
pub fn set_txqueuelen(nl: &mut Netlink, index: u32, packets: u32) -> Result<(), NetlinkError> {
    let mut m = change(index, 0, 0);
    m.u32(IFLA_TXQLEN, packets);
    nl.request(
        &mut m,
        format_args!("set the queue length of link {index} to {packets}"),
    )
}

/// Moves a link into another namespace; it goes down and loses its addresses.
///
/// # Errors
/// No such link, or the name is taken over there.
pub fn move_to(nl: &mut Netlink, index: u32, netns: BorrowedFd<'_>) -> Result<(), NetlinkError> {
    let mut m = change(index, 0, 0);
    m.attr(IFLA_NET_NS_FD, &netns.as_raw_fd().to_ne_bytes());
    nl.request(
        &mut m,
        format_args!("move link {index} to another network namespace"),
    )
}

/// Deletes a link, including the other end of a veth pair.
///
/// # Errors
/// No such link, or it cannot be deleted.
pub fn delete(nl: &mut Netlink, index: u32) -> Result<(), NetlinkError> {
    let mut m = Message::new(RTM_DELLINK, 0);
    m.raw(&ifinfomsg(index, 0, 0));
    nl.request(&mut m, format_args!("delete link {index}"))
}

fn change(index: u32, flags: u32, mask: u32) -> Message {
    let mut m = Message::new(RTM_NEWLINK, 0);
    m.raw(&ifinfomsg(index, flags, mask));
    m
}

#[cfg(test)]
mod tests;
