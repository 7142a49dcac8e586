//! Queues and losses of a line.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Share};

/// Bytes of an Ethernet header, which every rate and every byte-counted buffer includes.
pub const ETHERNET_HEADER: u64 = 14;

/// Capacity of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Buffer {
    /// Packets of any size.
    Packets(u32),
    /// Bytes, Ethernet headers included.
    Bytes(Bytes),
    /// The kernel's default limit for this kind of queue (hundreds to thousands of packets).
    Kernel,
}

/// Size assumed for [`Buffer::Kernel`] where a number is needed. The kernel's limits range from
/// 1000 (pie, codel) to 10240 packets (fq_codel), but an AQM keeps far fewer.
const KERNEL_PACKETS: u32 = 1000;

impl Buffer {
    /// The buffer in bytes, assuming full-size packets.
    pub fn bytes(self, mtu: u32) -> Bytes {
        match self {
            Self::Packets(n) => Bytes(u64::from(n) * (u64::from(mtu) + ETHERNET_HEADER)),
            Self::Bytes(bytes) => bytes,
            Self::Kernel => Self::Packets(KERNEL_PACKETS).bytes(mtu),
        }
    }

    /// The buffer in full-size packets, at least one.
    pub fn packets(self, mtu: u32) -> u32 {
        match self {
            Self::Packets(n) => n,
            Self::Kernel => KERNEL_PACKETS,
            Self::Bytes(b) => u32::try_from(b.0 / (u64::from(mtu) + ETHERNET_HEADER))
                .unwrap_or(u32::MAX)
                .max(1),
        }
    }
}

/// Kind of queue, named as in the kernel where it has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    /// First in, first out, tail drop.
    Fifo,
    /// Fair queueing with pacing, no AQM.
    Fq,
    /// Fair queueing with CoDel.
    FqCodel,
    /// CoDel on a single queue.
    Codel,
    /// PIE on a single queue.
    Pie,
    /// CAKE with its own shaper.
    Cake,
    /// DualPI2 (RFC 9332).
    Dualpi2,
    /// Random early detection.
    Red,
    /// No queue: drops traffic above the rate.
    Policer,
}

impl Queue {
    /// Returns true if the kernel's default limit is usable as its buffer.
    pub const fn has_own_limit(self) -> bool {
        !matches!(self, Self::Fifo | Self::Red | Self::Policer)
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "fifo",
            Self::Fq => "fq",
            Self::FqCodel => "fq_codel",
            Self::Codel => "codel",
            Self::Pie => "pie",
            Self::Cake => "cake",
            Self::Dualpi2 => "dualpi2",
            Self::Red => "red",
            Self::Policer => "policer",
        })
    }
}

/// Packet loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// None.
    None,
    /// Each packet with this probability.
    Random(Share),
    /// Gilbert-Elliott: two states with their own loss.
    GilbertElliott {
        /// Probability to go from good to bad, per packet.
        p: Share,
        /// Probability to go from bad to good, per packet.
        r: Share,
        /// Loss in the bad state (`1-h` of netem).
        bad: Share,
        /// Loss in the good state (`1-k` of netem).
        good: Share,
    },
    /// Exactly every n-th packet; at most 65535 (`tc_gact_p`).
    Every(u16),
}
