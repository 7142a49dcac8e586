//! Actions of remedies.

mod parameters;

use serde::{Deserialize, Serialize};

use super::RemedyClass;
use crate::{net::Direction, text::Text};

pub use parameters::{
    Bottleneck, Buffer, CcScope, Discipline, Flow, LimitKind, Processor, RouteTo, TunnelMode,
};

/// An action with its parameters; unknown parameters are absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Action {
    /// Nothing.
    Keep,
    /// Another congestion control for data sent by this host.
    CongestionControl {
        /// Its name in the kernel.
        cc: String,
        /// The affected sockets.
        scope: CcScope,
    },
    /// A shaper below the rate of the bottleneck, so that the queue forms in the shaper.
    Shaper {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// Rate to shape to, bit/s as its device counts: with the 14 bytes of the header on
        /// Ethernet (`qdisc_pkt_len`), so that 0.9 % fewer bits of full IP packets pass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate_bps: Option<u64>,
        /// The queue in it.
        queue: Discipline,
        /// Egress or ingress of the device.
        flow: Flow,
        /// The direction of the path that it shapes.
        direction: Direction,
        /// The bottleneck whose rate it stays below.
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
    /// A larger limit of an overflowing queue.
    QueueLimit {
        /// The limit.
        limit: LimitKind,
        /// The device, if the limit belongs to one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// The new limit, packets.
        packets: u32,
    },
    /// A larger limit of TCP buffer autotuning.
    SocketBuffer {
        /// The buffer.
        buffer: Buffer,
        /// Current minimum and default, which are kept, bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<[u64; 2]>,
        /// The new maximum, bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_bytes: Option<u64>,
    },
    /// No fixed buffer size set by a program, so that autotuning works.
    FreeBuffer {
        /// The buffer.
        buffer: Buffer,
    },
    /// A larger buffer of UDP sockets.
    UdpBuffer {
        /// Bytes.
        bytes: u64,
    },
    /// MTU of a tunnel device.
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
    /// MSS clamping of connections through this host.
    MssClamp {
        /// Bytes; absent = derived from the route's MTU.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u32>,
    },
    /// Packetization layer path MTU discovery (RFC 4821).
    MtuProbing,
    /// Explicit congestion notification.
    Ecn {
        /// True to request it.
        on: bool,
    },
    /// A limit of unsent bytes in a TCP socket.
    NotsentLowat {
        /// Bytes.
        bytes: u64,
    },
    /// An offload setting of a device.
    Offload {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// The kernel's name of the offload, as in `ethtool -k`.
        feature: String,
        /// On or off.
        on: bool,
    },
    /// Receive packet steering over several processors (RPS).
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
    /// Less work for a saturated processor.
    Relieve {
        /// Consumer that saturates it.
        by: Processor,
    },
    /// Removal of an unneeded shaper.
    RemoveShaper {
        /// The device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// Kind of the queue, by the kernel's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue: Option<String>,
        /// Its rate, bit/s.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate_bps: Option<u64>,
    },
    /// A kernel parameter reset to its default.
    Sysctl {
        /// Its dotted name.
        name: String,
        /// The kernel's default.
        value: String,
    },
    /// Another mode of the tunnel.
    Tunnel {
        /// The mode.
        mode: TunnelMode,
    },
    /// Several parallel connections.
    MoreFlows {
        /// The number that reaches the path's capacity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flows: Option<u32>,
    },
    /// A sending program that provides more data.
    FeedSender,
    /// All packets of a flow on one path.
    KeepOrder,
    /// A better radio link, or a cable.
    Radio,
    /// A request to the line's operator.
    AskProvider {
        /// The request.
        request: Text,
    },
    /// A further measurement.
    Measure {
        /// The measurement, in one sentence.
        what: Text,
    },
    /// Free text from a document of schema 1.
    #[serde(rename = "told")]
    FreeText {
        /// Kind.
        class: RemedyClass,
        /// The action, in one sentence.
        what: Text,
    },
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
