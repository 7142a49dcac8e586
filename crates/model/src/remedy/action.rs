//! What can be done about a cause.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::RemedyClass;
use crate::{cell, net::Direction, text::Text};

/// What to do, with its parameters. What a Run cannot know is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Action {
    /// Nothing.
    Keep,
    /// Another congestion control for what this host sends.
    CongestionControl {
        /// Its name in the kernel.
        cc: String,
        /// For which sockets.
        scope: CcScope,
    },
    /// A shaper below the rate of the bottleneck, so that the queue forms where it is managed.
    Shaper {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// Rate to shape to, bit/s of IP packets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate_bps: Option<u64>,
        /// The queue in it.
        queue: Discipline,
        /// Whether it shapes what leaves the device or what comes in.
        flow: Flow,
        /// The direction of the path whose data it shapes.
        direction: Direction,
        /// What it keeps the data below.
        below: Bottleneck,
    },
    /// Another queue discipline, without a rate.
    Queue {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// The queue.
        queue: Discipline,
    },
    /// A larger limit of a queue that overflows.
    QueueLimit {
        /// Which limit.
        limit: LimitKind,
        /// The device, where the limit is that of one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// The new limit, packets.
        packets: u32,
    },
    /// A larger bound of the buffers that TCP sockets grow to.
    SocketBuffer {
        /// Which.
        buffer: Buffer,
        /// Minimum and default as they are, bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<[u64; 2]>,
        /// The new maximum, bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_bytes: Option<u64>,
    },
    /// Away with a fixed size that a program gives its TCP sockets, so that the kernel grows their
    /// buffers.
    FreeBuffer {
        /// Which.
        buffer: Buffer,
    },
    /// A larger buffer of UDP sockets.
    UdpBuffer {
        /// Bytes.
        bytes: u64,
    },
    /// MTU of a tunnel's device.
    TunnelMtu {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// Bytes of the inner packet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u32>,
    },
    /// MTU of a link.
    LinkMtu {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// Bytes of the IP packet.
        bytes: u32,
    },
    /// A bound on the segment size that connections through this host announce.
    MssClamp {
        /// Bytes; absent = what the route's MTU allows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u32>,
    },
    /// Smaller segments after losses of large ones (RFC 4821).
    MtuProbing,
    /// Explicit congestion notification.
    Ecn {
        /// Whether to ask for it.
        on: bool,
    },
    /// A bound on what a program may queue unsent in a TCP socket.
    NotsentLowat {
        /// Bytes.
        bytes: u64,
    },
    /// An offload of a device.
    Offload {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// The kernel's name of the offload, as `ethtool -k` has it.
        feature: String,
        /// On or off.
        on: bool,
    },
    /// Receiving on several processors (RPS).
    ReceiveSteering {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// Processors of the host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpus: Option<u32>,
    },
    /// More hardware queues of a network card.
    DeviceQueues {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// Combined queues.
        count: u32,
    },
    /// Less work for a processor that is full.
    Relieve {
        /// What fills it.
        by: Processor,
    },
    /// Away with a shaper that nobody needs.
    RemoveShaper {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// Kind of the queue, by the kernel's name.
        queue: String,
        /// Its rate, bit/s.
        rate_bps: u64,
    },
    /// A kernel parameter back to what it is by default.
    Sysctl {
        /// Its dotted name.
        name: String,
        /// The kernel's default.
        value: String,
    },
    /// Another way to run the tunnel.
    Tunnel {
        /// Which.
        mode: TunnelMode,
    },
    /// Several connections at once.
    MoreFlows {
        /// How many reach what the path carries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flows: Option<u32>,
    },
    /// A program that gives TCP more to send.
    FeedSender,
    /// Packets of one flow on one way.
    KeepOrder,
    /// A better radio link, or a cable.
    Radio,
    /// A request to whoever runs the line.
    AskProvider {
        /// For what.
        request: Text,
    },
    /// A measurement that tells more.
    Measure {
        /// Which.
        what: Text,
    },
    /// In the words of a document of schema 1.
    #[serde(rename = "told")]
    FreeText {
        /// Kind.
        class: RemedyClass,
        /// What to do, in one sentence.
        what: Text,
    },
}

/// The sockets that get another congestion control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum CcScope {
    /// That of one program, which sets `TCP_CONGESTION`.
    Socket,
    /// All to one address.
    Route(RouteTo),
    /// All new ones of the host.
    Host,
}

/// The route to one address, as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteTo {
    /// The address.
    pub toward: IpAddr,
    /// Next hop; absent = the address is on the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<IpAddr>,
    /// The device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Source address of sockets that chose none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// Number of the routing table, if it is not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<u32>,
}

/// A queue discipline that manages its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// Fair queueing with pacing, for hosts that send.
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

/// Which packets of a device a shaper holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// Those that leave it.
    Egress,
    /// Those that come in.
    Ingress,
}

/// What a shaper keeps the data below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// A queue that grows too long.
    Queue,
    /// A policer, which drops.
    Policer,
}

/// A limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Packets of one flow in fq (`flow_limit`).
    FqFlow,
    /// Packets that wait for a processor (`net.core.netdev_max_backlog`).
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
    /// Of data that is sent and not acknowledged (`net.ipv4.tcp_wmem`).
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

/// What fills a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Processor {
    /// Work of any kind.
    Anything,
    /// The thread of a tunnel.
    TunnelThread,
}

/// A way to run a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TunnelMode {
    /// In the kernel.
    Kernel,
    /// With a device, in place of a TCP stack in the process of the tunnel.
    Device,
    /// Without a relay.
    Direct,
    /// On another port or protocol.
    OtherPort,
}

impl Action {
    /// Its kind.
    pub fn class(&self) -> RemedyClass {
        match self {
            Self::Keep => RemedyClass::None,
            Self::CongestionControl { .. } => RemedyClass::CongestionControl,
            Self::Shaper { below, .. } => match below {
                Bottleneck::Queue => RemedyClass::QueueManagement,
                Bottleneck::Policer => RemedyClass::AvoidLimit,
            },
            Self::Queue { .. } | Self::Ecn { .. } | Self::NotsentLowat { .. } => {
                RemedyClass::QueueManagement
            }
            Self::QueueLimit { .. } => RemedyClass::QueueLimit,
            Self::SocketBuffer { .. } | Self::FreeBuffer { .. } | Self::UdpBuffer { .. } => {
                RemedyClass::Buffers
            }
            Self::TunnelMtu { .. }
            | Self::LinkMtu { .. }
            | Self::MssClamp { .. }
            | Self::MtuProbing => RemedyClass::Mtu,
            Self::Offload { .. } => RemedyClass::Offload,
            Self::ReceiveSteering { .. } | Self::DeviceQueues { .. } | Self::Relieve { .. } => {
                RemedyClass::Processor
            }
            Self::RemoveShaper { .. } | Self::Sysctl { .. } => RemedyClass::Settings,
            Self::Tunnel { mode } => match mode {
                TunnelMode::Direct => RemedyClass::DirectConnection,
                TunnelMode::OtherPort => RemedyClass::AvoidLimit,
                TunnelMode::Kernel | TunnelMode::Device => RemedyClass::TunnelSoftware,
            },
            Self::MoreFlows { .. } => RemedyClass::MoreFlows,
            Self::FeedSender => RemedyClass::Application,
            Self::KeepOrder => RemedyClass::Ordering,
            Self::Radio => RemedyClass::Radio,
            Self::AskProvider { .. } | Self::Measure { .. } => RemedyClass::Line,
            Self::FreeText { class, .. } => *class,
        }
    }
}
