//! Sizes of rings and numbers of queues, by ethtool netlink.
//!
//! Message types and attributes are those of include/uapi/linux/ethtool_netlink.h (Linux 6.18); the
//! kernel leaves out what a driver does not have (net/ethtool/rings.c: `rings_fill_reply`,
//! net/ethtool/channels.c: `channels_fill_reply`).

use crate::netlink::{Attrs, GENLMSG_LEN, Message, Netlink, NetlinkError};

use super::{ChannelCounts, Rings};

const ETHTOOL_MSG_RINGS_GET: u8 = 15;
const ETHTOOL_MSG_RINGS_SET: u8 = 16;
const ETHTOOL_MSG_CHANNELS_GET: u8 = 17;
const ETHTOOL_MSG_CHANNELS_SET: u8 = 18;
const ETHTOOL_A_HEADER_DEV_INDEX: u16 = 1;
/// The header is the first attribute of every message.
const HEADER: u16 = 1;
const ETHTOOL_A_RINGS_RX_MAX: u16 = 2;
const ETHTOOL_A_RINGS_TX_MAX: u16 = 5;
const ETHTOOL_A_RINGS_RX: u16 = 6;
const ETHTOOL_A_RINGS_TX: u16 = 9;
const ETHTOOL_A_CHANNELS_RX_MAX: u16 = 2;
const ETHTOOL_A_CHANNELS_TX_MAX: u16 = 3;
const ETHTOOL_A_CHANNELS_COMBINED_MAX: u16 = 5;
const ETHTOOL_A_CHANNELS_RX_COUNT: u16 = 6;
const ETHTOOL_A_CHANNELS_TX_COUNT: u16 = 7;
const ETHTOOL_A_CHANNELS_COMBINED_COUNT: u16 = 9;

/// A generic netlink socket with the number of the ethtool family.
#[derive(Debug)]
pub struct Ethtool {
    nl: Netlink,
    family: u16,
}

impl Ethtool {
    /// Opens the family in the calling thread's network namespace.
    ///
    /// # Errors
    /// The kernel has no ethtool netlink (before 5.6, or without CONFIG_ETHTOOL_NETLINK).
    pub fn open() -> Result<Self, NetlinkError> {
        let mut nl = Netlink::generic()?;
        let family = nl.family("ethtool")?;
        Ok(Self { nl, family })
    }

    /// Sizes of the rings of a link.
    ///
    /// # Errors
    /// No such link, or its driver has no rings (`EOPNOTSUPP`).
    pub fn rings(&mut self, index: u32) -> Result<Rings, NetlinkError> {
        let op = format_args!("read the ring sizes of link {index}");
        let mut m = self.message(ETHTOOL_MSG_RINGS_GET, index);
        let mut rings = None;
        let each = |payload: &[u8]| rings = Some(read_rings(payload));
        self.nl.get(&mut m, op, each)?;
        rings.ok_or_else(|| NetlinkError::malformed(op))
    }

    /// Sets sizes of the rings of a link, packets; absent = unchanged. Drivers round them, and many
    /// reset the link.
    ///
    /// # Errors
    /// No such link, not root, more than its maximum, or the driver refuses.
    pub fn set_rings(
        &mut self,
        index: u32,
        rx: Option<u32>,
        tx: Option<u32>,
    ) -> Result<(), NetlinkError> {
        let mut m = self.message(ETHTOOL_MSG_RINGS_SET, index);
        write_rings(&mut m, rx, tx);
        self.nl
            .request(&mut m, format_args!("set the ring sizes of link {index}"))
    }

    /// Numbers of queues of a link.
    ///
    /// # Errors
    /// No such link, or its driver does not report them (`EOPNOTSUPP`).
    pub fn channels(&mut self, index: u32) -> Result<ChannelCounts, NetlinkError> {
        let op = format_args!("read the numbers of queues of link {index}");
        let mut m = self.message(ETHTOOL_MSG_CHANNELS_GET, index);
        let mut counts = None;
        let each = |payload: &[u8]| counts = Some(read_channels(payload));
        self.nl.get(&mut m, op, each)?;
        counts.ok_or_else(|| NetlinkError::malformed(op))
    }

    /// Sets the numbers of queues of a link that receive, send, and do both; absent = unchanged.
    /// The kernel discards the processor masks of removed queues.
    ///
    /// # Errors
    /// No such link, not root, more than its maximum, no queue for a direction, or the driver
    /// refuses.
    pub fn set_channels(
        &mut self,
        index: u32,
        wanted: [Option<u32>; 3],
    ) -> Result<(), NetlinkError> {
        let mut m = self.message(ETHTOOL_MSG_CHANNELS_SET, index);
        write_channels(&mut m, wanted);
        let op = format_args!("set the numbers of queues of link {index}");
        self.nl.request(&mut m, op)
    }

    /// `struct genlmsghdr` with the command and version 1, and the header that names the link.
    fn message(&self, command: u8, index: u32) -> Message {
        let mut m = Message::new(self.family, 0);
        m.raw(&[command, 1, 0, 0]).nest_flagged(HEADER, |header| {
            header.u32(ETHTOOL_A_HEADER_DEV_INDEX, index);
        });
        m
    }
}

fn write_rings(m: &mut Message, rx: Option<u32>, tx: Option<u32>) {
    m.opt_u32(ETHTOOL_A_RINGS_RX, rx)
        .opt_u32(ETHTOOL_A_RINGS_TX, tx);
}

fn write_channels(m: &mut Message, [rx, tx, combined]: [Option<u32>; 3]) {
    m.opt_u32(ETHTOOL_A_CHANNELS_RX_COUNT, rx)
        .opt_u32(ETHTOOL_A_CHANNELS_TX_COUNT, tx)
        .opt_u32(ETHTOOL_A_CHANNELS_COMBINED_COUNT, combined);
}

/// 0 for absent attributes.
fn numbers<const N: usize>(payload: &[u8], kinds: [u16; N]) -> [u32; N] {
    let attrs = Attrs::after(payload, GENLMSG_LEN);
    kinds.map(|kind| attrs.get(kind).and_then(|a| a.u32()).unwrap_or_default())
}

pub(crate) fn read_rings(payload: &[u8]) -> Rings {
    let [rx, rx_max, tx, tx_max] = numbers(
        payload,
        [
            ETHTOOL_A_RINGS_RX,
            ETHTOOL_A_RINGS_RX_MAX,
            ETHTOOL_A_RINGS_TX,
            ETHTOOL_A_RINGS_TX_MAX,
        ],
    );
    Rings {
        rx,
        rx_max,
        tx,
        tx_max,
    }
}

pub(crate) fn read_channels(payload: &[u8]) -> ChannelCounts {
    let [rx, tx, combined] = numbers(
        payload,
        [
            ETHTOOL_A_CHANNELS_RX_COUNT,
            ETHTOOL_A_CHANNELS_TX_COUNT,
            ETHTOOL_A_CHANNELS_COMBINED_COUNT,
        ],
    );
    let max = numbers(
        payload,
        [
            ETHTOOL_A_CHANNELS_RX_MAX,
            ETHTOOL_A_CHANNELS_TX_MAX,
            ETHTOOL_A_CHANNELS_COMBINED_MAX,
        ],
    );
    ChannelCounts {
        rx,
        tx,
        combined,
        max,
    }
}

#[cfg(test)]
mod tests;
