//! Counters of queue disciplines (include/uapi/linux/gen_stats.h, Linux 7.2).

use std::fmt;

use crate::bytes;
use crate::netlink::{Attrs, Message, Netlink, NetlinkError};

use super::extra::QdiscExtra;
use super::handle::Handle;
use super::message::{RTM_GETQDISC, TCA_KIND, TCA_STATS2, TCMSG_LEN, tcmsg};

const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_APP: u16 = 4;
const TCA_STATS_PKT64: u16 = 8;
/// Maximum length of a kind's name including NUL (`IFNAMSIZ`).
const KIND_LEN: usize = 16;

/// Name of a kind of queue discipline or action, held without allocation.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Kind([u8; KIND_LEN]);

impl Kind {
    pub(super) fn new(text: &[u8]) -> Kind {
        let mut kind = [0; KIND_LEN];
        for (to, from) in kind
            .iter_mut()
            .zip(text.iter().take_while(|b| b.is_ascii_graphic()))
        {
            *to = *from;
        }
        Kind(kind)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        let len = self.0.iter().position(|&b| b == 0).unwrap_or(KIND_LEN);
        std::str::from_utf8(&self.0[..len]).unwrap_or_default()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

/// Counters of one queue discipline since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QdiscStats {
    /// Link.
    pub ifindex: u32,
    /// Its handle; none for the kernel's default ones.
    pub handle: Handle,
    /// Parent.
    pub parent: Handle,
    /// Kind.
    pub kind: Kind,
    /// Dequeued bytes, including link headers.
    pub bytes: u64,
    /// Dequeued packets.
    pub packets: u64,
    /// Packets dropped.
    pub drops: u32,
    /// Number of times it was limited by its rate.
    pub overlimits: u32,
    /// Number of requeued packets.
    pub requeues: u32,
    /// Backlog, packets.
    pub qlen: u32,
    /// Backlog, bytes.
    pub backlog_bytes: u32,
    /// Additional counters of its kind.
    pub extra: Option<QdiscExtra>,
}

/// The queue disciplines of a link, or of all links of the namespace, with their counters. Default
/// ones that the kernel hides, and inner fifos, are not listed.
///
/// # Errors
/// The socket failed.
pub fn stats(nl: &mut Netlink, ifindex: Option<u32>) -> Result<Vec<QdiscStats>, NetlinkError> {
    let mut m = Message::new(RTM_GETQDISC, 0);
    m.raw(&tcmsg(ifindex.unwrap_or(0), Handle::NONE, Handle::NONE, 0));
    nl.dump(&mut m, "list qdiscs", |payload| {
        QdiscStats::parse(payload).filter(|s| ifindex.is_none_or(|wanted| wanted == s.ifindex))
    })
}

impl QdiscStats {
    /// Reads one queue discipline from a message's payload.
    pub fn parse(payload: &[u8]) -> Option<QdiscStats> {
        let attrs = Attrs::after(payload, TCMSG_LEN);
        let kind = Kind::new(attrs.get(TCA_KIND)?.payload);
        let counters = attrs
            .get(TCA_STATS2)
            .map_or(Attrs::new(&[]), |s| s.nested());
        let Basic { bytes, packets } = basic(counters);
        let queue = queue(counters);
        let app = counters.get(TCA_STATS_APP);
        Some(QdiscStats {
            ifindex: bytes::u32_at(payload, 4)?,
            handle: Handle::from_raw(bytes::u32_at(payload, 8)?),
            parent: Handle::from_raw(bytes::u32_at(payload, 12)?),
            kind,
            bytes,
            packets,
            drops: queue.drops,
            overlimits: queue.overlimits,
            requeues: queue.requeues,
            qlen: queue.qlen,
            backlog_bytes: queue.backlog_bytes,
            extra: app.and_then(|a| QdiscExtra::parse(kind.as_str(), a.payload)),
        })
    }
}

/// `struct gnet_stats_basic`, with the 64-bit packet count if it did not fit.
pub(super) struct Basic {
    pub(super) bytes: u64,
    pub(super) packets: u64,
}

pub(super) fn basic(counters: Attrs<'_>) -> Basic {
    let basic = counters.get(TCA_STATS_BASIC).map_or(&[][..], |a| a.payload);
    let packets32 = bytes::u32_at(basic, 8).map(u64::from);
    Basic {
        bytes: bytes::u64_at(basic, 0).unwrap_or_default(),
        packets: counters
            .get(TCA_STATS_PKT64)
            .and_then(|a| a.u64())
            .or(packets32)
            .unwrap_or_default(),
    }
}

/// `struct gnet_stats_queue`.
pub(super) struct Queue {
    pub(super) qlen: u32,
    pub(super) backlog_bytes: u32,
    pub(super) drops: u32,
    pub(super) requeues: u32,
    pub(super) overlimits: u32,
}

pub(super) fn queue(counters: Attrs<'_>) -> Queue {
    let queue = counters.get(TCA_STATS_QUEUE).map_or(&[][..], |a| a.payload);
    let at = |i: usize| bytes::u32_at(queue, i * 4).unwrap_or_default();
    Queue {
        qlen: at(0),
        backlog_bytes: at(1),
        drops: at(2),
        requeues: at(3),
        overlimits: at(4),
    }
}
