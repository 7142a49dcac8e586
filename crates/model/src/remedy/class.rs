//! Kinds of remedies.

use serde::{Deserialize, Serialize};

use super::{Action, Bottleneck, TunnelMode};

/// Kind of a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemedyClass {
    /// Nothing to do.
    None,
    /// Get a direct connection in place of a relay.
    DirectConnection,
    /// Another implementation of the tunnel, or a newer one.
    TunnelSoftware,
    /// Larger socket buffers.
    Buffers,
    /// A larger limit of a queue on a host.
    QueueLimit,
    /// Switch an offload, or change the kernel or driver.
    Offload,
    /// MTU of the tunnel, or the MSS announced.
    Mtu,
    /// Spread or lower the processor's work.
    Processor,
    /// Change the program that sends or receives.
    Application,
    /// Queue management, with a shaper where the bottleneck is elsewhere.
    QueueManagement,
    /// Another port or protocol, or a shaper below the limit.
    AvoidLimit,
    /// Several connections at once.
    MoreFlows,
    /// The cause of reordering: links and queues in parallel.
    Ordering,
    /// Another congestion control at the sender.
    CongestionControl,
    /// The radio link: cable, channel, power saving.
    Radio,
    /// A kernel parameter back to its default.
    Settings,
    /// The line itself, or who runs it.
    Line,
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
            Self::Told { class, .. } => *class,
        }
    }
}
