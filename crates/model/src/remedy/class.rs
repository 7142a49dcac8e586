//! Kinds of remedies.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Kind of a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemedyClass {
    /// Nothing to do.
    None,
    /// A direct connection instead of a relay.
    DirectConnection,
    /// Another implementation of the tunnel, or a newer one.
    TunnelSoftware,
    /// Larger socket buffers.
    Buffers,
    /// A larger limit of a queue on a host.
    QueueLimit,
    /// An offload setting, or another kernel or driver.
    Offload,
    /// MTU of the tunnel, or the MSS announced.
    Mtu,
    /// Less processor work, or better distributed.
    Processor,
    /// A change of the sending or receiving program.
    Application,
    /// Queue management, with a shaper if the bottleneck is elsewhere.
    QueueManagement,
    /// Another port or protocol, or a shaper below the limit.
    AvoidLimit,
    /// Several parallel connections.
    MoreFlows,
    /// Removal of the cause of reordering: parallel links and queues.
    Ordering,
    /// Another congestion control at the sender.
    CongestionControl,
    /// The radio link: cable, channel, power saving.
    Radio,
    /// A kernel parameter reset to its default.
    Settings,
    /// The line itself, or its operator.
    Line,
}

impl fmt::Display for RemedyClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::DirectConnection => "direct connection",
            Self::TunnelSoftware => "tunnel software",
            Self::Buffers => "buffers",
            Self::QueueLimit => "queue limit",
            Self::Offload => "offload",
            Self::Mtu => "mtu",
            Self::Processor => "processor",
            Self::Application => "application",
            Self::QueueManagement => "queue management",
            Self::AvoidLimit => "avoid limit",
            Self::MoreFlows => "more flows",
            Self::Ordering => "ordering",
            Self::CongestionControl => "congestion control",
            Self::Radio => "radio",
            Self::Settings => "settings",
            Self::Line => "line",
        })
    }
}
