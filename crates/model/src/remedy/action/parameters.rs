//! Parameters of actions.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::cell;

/// Sockets affected by a change of congestion control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum CcScope {
    /// The sockets of a program that sets `TCP_CONGESTION`.
    Socket,
    /// All sockets connected to one address.
    Route(RouteTo),
    /// All new sockets of the host.
    Host,
}

/// The current route to one address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteTo {
    /// The address.
    pub toward: IpAddr,
    /// Next hop; absent = the address is on-link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<IpAddr>,
    /// The device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Preferred source address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// Number of the routing table, if it is not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<u32>,
}

/// A queue discipline with queue management.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// Fair queueing with pacing, for sending hosts.
    Fq,
    /// Fair queueing with CoDel.
    FqCodel,
    /// CAKE, with its own shaper.
    Cake,
}

impl Discipline {
    /// The kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fq => "fq",
            Self::FqCodel => "fq_codel",
            Self::Cake => "cake",
        }
    }
}

impl From<Discipline> for cell::Queue {
    fn from(queue: Discipline) -> Self {
        match queue {
            Discipline::Fq => Self::Fq,
            Discipline::FqCodel => Self::FqCodel,
            Discipline::Cake => Self::Cake,
        }
    }
}

impl From<Discipline> for cell::EndQdisc {
    fn from(queue: Discipline) -> Self {
        match queue {
            Discipline::Fq => Self::Fq,
            Discipline::FqCodel => Self::FqCodel,
            Discipline::Cake => Self::Cake,
        }
    }
}

/// Side of a device that a shaper acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// Transmitted packets.
    Egress,
    /// Received packets.
    Ingress,
}

/// Kind of a bottleneck before which a shaper is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// An oversized queue.
    Queue,
    /// A policer.
    Policer,
}

/// A limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Packets of one flow in fq (`flow_limit`).
    FqFlow,
    /// Backlog of a processor, packets (`net.core.netdev_max_backlog`).
    Backlog,
    /// Packets in the card's receive ring.
    ReceiveRing,
    /// Packets in the queue of a device (`txqueuelen`).
    DeviceQueue,
}

/// A buffer of TCP sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Buffer {
    /// Of received data (`net.ipv4.tcp_rmem`).
    Receive,
    /// Of unacknowledged data (`net.ipv4.tcp_wmem`).
    Send,
}

impl Buffer {
    /// The kernel parameter.
    pub fn sysctl(self) -> &'static str {
        match self {
            Self::Receive => "net.ipv4.tcp_rmem",
            Self::Send => "net.ipv4.tcp_wmem",
        }
    }

    /// Minimum and default of Linux, bytes (Documentation/networking/ip-sysctl.rst of Linux 6.12).
    pub fn defaults(self) -> [u64; 2] {
        match self {
            Self::Receive => [4096, 131_072],
            Self::Send => [4096, 16_384],
        }
    }
}

/// Consumer that saturates a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Processor {
    /// Any work.
    Anything,
    /// The thread of a tunnel.
    TunnelThread,
}

/// Mode of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TunnelMode {
    /// In the kernel.
    Kernel,
    /// With a device instead of a userspace TCP stack.
    Device,
    /// Without a relay.
    Direct,
    /// On another port or protocol.
    OtherPort,
}
