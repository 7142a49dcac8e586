//! Attributes and counters of links.

use crate::bytes;
use crate::netlink::{Attr, Attrs, Message, Netlink, NetlinkError};

use super::{
    address::Mac,
    message::{
        IFF_UP, IFINFOMSG_LEN, IFLA_ADDRESS, IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO, IFLA_MTU,
        IFLA_NUM_RX_QUEUES, IFLA_NUM_TX_QUEUES, IFLA_TXQLEN, ifinfomsg,
    },
};

const RTM_GETLINK: u16 = 18;

const IFLA_LINK: u16 = 5;
const IFLA_QDISC: u16 = 6;
const IFLA_MASTER: u16 = 10;
const IFLA_STATS64: u16 = 23;
const IFLA_LINK_NETNSID: u16 = 37;

/// A link as reported by the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Index, unique in its namespace.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Kind, such as `veth` or `wireguard`; absent for physical links and `lo`.
    pub kind: Option<String>,
    /// Type of hardware (`ARPHRD_*`): 1 is Ethernet, 772 loopback, 65534 none.
    pub hardware: u16,
    /// Index of the link below it, such as a VLAN's, or of a veth's other end; absent if it is in
    /// another namespace.
    pub below: Option<u32>,
    /// Index of its bridge or bond.
    pub master: Option<u32>,
    /// Receive queues.
    pub rx_queues: Option<u32>,
    /// Transmit queues.
    pub tx_queues: Option<u32>,
    /// MTU in bytes.
    pub mtu: u32,
    /// True if it is administratively up.
    pub up: bool,
    /// Kind of the root queue discipline, such as `fq` or `noqueue`.
    pub qdisc: Option<String>,
    /// Hardware address, if it is an Ethernet one.
    pub mac: Option<Mac>,
    /// Length of the transmit queue in packets.
    pub txqueuelen: Option<u32>,
    /// Counters since the creation of the link.
    pub counters: LinkCounters,
}

/// Counters of a link (`struct rtnl_link_stats64`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Bad packets received.
    pub rx_errors: u64,
    /// Failed transmissions.
    pub tx_errors: u64,
    /// Received packets dropped by software.
    pub rx_dropped: u64,
    /// Packets dropped on transmission; does not include drops of queue disciplines.
    pub tx_dropped: u64,
    /// Packets dropped because the receive queue of the device was full.
    pub rx_over_errors: u64,
    /// Packets received with a wrong checksum of the link.
    pub rx_crc_errors: u64,
    /// Packets lost in a full receive fifo.
    pub rx_fifo_errors: u64,
    /// Packets dropped because the device had no buffer.
    pub rx_missed_errors: u64,
    /// Packets not sent because of missing carrier.
    pub tx_carrier_errors: u64,
    /// Packets lost in a transmit fifo.
    pub tx_fifo_errors: u64,
}

/// The index of a link by its name.
///
/// # Errors
/// No such link in the socket's namespace.
pub fn index(nl: &mut Netlink, name: &str) -> Result<u32, NetlinkError> {
    let mut m = Message::new(RTM_GETLINK, 0);
    m.raw(&ifinfomsg(0, 0, 0)).str(IFLA_IFNAME, name);
    one(nl, &mut m, &format!("find link {name}")).map(|link| link.index)
}

/// A link by its index.
///
/// # Errors
/// No such link in the socket's namespace.
pub fn show(nl: &mut Netlink, index: u32) -> Result<Link, NetlinkError> {
    let mut m = Message::new(RTM_GETLINK, 0);
    m.raw(&ifinfomsg(index, 0, 0));
    one(nl, &mut m, &format!("show link {index}"))
}

/// All links of the socket's namespace.
///
/// # Errors
/// The socket failed.
pub fn list(nl: &mut Netlink) -> Result<Vec<Link>, NetlinkError> {
    let mut m = Message::new(RTM_GETLINK, 0);
    m.raw(&ifinfomsg(0, 0, 0));
    nl.dump(&mut m, "list links", parse)
}

fn one(nl: &mut Netlink, m: &mut Message, op: &str) -> Result<Link, NetlinkError> {
    let mut found = None;
    nl.get(m, op, |payload| found = parse(payload))?;
    found.ok_or_else(|| NetlinkError::malformed(op))
}

pub(crate) fn parse(payload: &[u8]) -> Option<Link> {
    let mut link = Link {
        index: bytes::u32_at(payload, 4)?,
        hardware: bytes::u16_at(payload, 2)?,
        up: bytes::u32_at(payload, 8)? & IFF_UP != 0,
        ..Link::default()
    };
    for attr in Attrs::after(payload, IFINFOMSG_LEN) {
        read_attr(&mut link, attr);
    }
    if Attrs::after(payload, IFINFOMSG_LEN)
        .get(IFLA_LINK_NETNSID)
        .is_some()
    {
        link.below = None;
    }
    Some(link)
}

fn read_attr(link: &mut Link, attr: Attr<'_>) {
    match attr.kind {
        IFLA_IFNAME => link.name = attr.str().unwrap_or_default().to_owned(),
        IFLA_MTU => link.mtu = attr.u32().unwrap_or_default(),
        IFLA_QDISC => link.qdisc = attr.str().map(str::to_owned),
        IFLA_ADDRESS => link.mac = attr.payload.try_into().ok(),
        IFLA_TXQLEN => link.txqueuelen = attr.u32(),
        IFLA_LINK => link.below = attr.u32().filter(|&i| i != 0),
        IFLA_MASTER => link.master = attr.u32(),
        IFLA_NUM_RX_QUEUES => link.rx_queues = attr.u32(),
        IFLA_NUM_TX_QUEUES => link.tx_queues = attr.u32(),
        IFLA_LINKINFO => {
            link.kind = attr
                .nested()
                .get(IFLA_INFO_KIND)
                .and_then(|k| k.str().map(str::to_owned))
        }
        IFLA_STATS64 => link.counters = counters(attr.payload),
        _ => {}
    }
}

/// `struct rtnl_link_stats64`: the numbers are places of fields.
fn counters(stats: &[u8]) -> LinkCounters {
    let at = |i: usize| bytes::u64_at(stats, i * 8).unwrap_or_default();
    LinkCounters {
        rx_packets: at(0),
        tx_packets: at(1),
        rx_bytes: at(2),
        tx_bytes: at(3),
        rx_errors: at(4),
        tx_errors: at(5),
        rx_dropped: at(6),
        tx_dropped: at(7),
        rx_over_errors: at(11),
        rx_crc_errors: at(12),
        rx_fifo_errors: at(14),
        rx_missed_errors: at(15),
        tx_carrier_errors: at(17),
        tx_fifo_errors: at(18),
    }
}
