//! Kinds of remedies.

use serde::{Deserialize, Serialize};

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
