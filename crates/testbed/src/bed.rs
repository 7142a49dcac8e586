//! A built path: its hosts, and the queues and losses that are sampled.

use std::{io, net::IpAddr};

use model::{
    net::{Direction, Side},
    record::{LossyStage, QueuePlace},
};
use sys::{NetlinkError, Netns, tc::Handle};

use crate::rate_changes::RateChanges;

/// A host.
#[derive(Debug)]
pub struct Node {
    /// Its name.
    pub name: &'static str,
    /// Its namespace.
    pub ns: Netns,
    /// Its address for the measured layer: inside the tunnel if there is one. `None` for routers.
    pub address: Option<IpAddr>,
    /// Its address on the path itself, if it is an end that has one, the far end of the tunnel, or
    /// the third host.
    pub underlay: Option<IpAddr>,
}

/// A queue that is sampled.
#[derive(Clone, Debug)]
pub struct SampledQueue {
    /// Index of its host in [`Testbed::hosts`].
    pub host: usize,
    /// Index of its device.
    pub device: u32,
    /// Handle of the queue.
    pub handle: Handle,
    /// Location.
    pub place: QueuePlace,
    /// Direction of the packets in it.
    pub direction: Direction,
    /// The kernel's name of its kind.
    pub kind: &'static str,
    /// Rate at which it drains, bit/s.
    pub rate_bps: Option<u64>,
}

/// A stage that loses packets on purpose.
#[derive(Clone, Debug)]
pub struct LossStage {
    /// Index of its host.
    pub host: usize,
    /// Index of its device.
    pub device: u32,
    /// Location of its counters.
    pub counter: LossCounter,
    /// The lossy stage.
    pub stage: LossyStage,
    /// Direction of the packets.
    pub direction: Direction,
}

/// Counter of a loss stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCounter {
    /// The drops of a queue.
    Queue(Handle),
    /// The losses of a `path`, apart from the drops of its queue.
    Path,
    /// The drops of the policer of a `path`.
    PathPolicer,
    /// The drops of an action on received packets.
    Ingress,
    /// The drops of an action on packets that go out.
    Egress,
}

/// A built path.
#[derive(Debug)]
pub struct Testbed {
    /// All hosts, from the near end to the far one.
    pub hosts: Vec<Node>,
    /// Queues that are sampled.
    pub queues: Vec<SampledQueue>,
    /// Stages that lose packets on purpose.
    pub losses: Vec<LossStage>,
    /// Rates that change over time.
    pub(crate) rate_changes: Vec<RateChanges>,
}

impl Testbed {
    /// The near end.
    pub fn near(&self) -> &Node {
        &self.hosts[0]
    }

    /// The far end.
    pub fn far(&self) -> &Node {
        &self.hosts[self.hosts.len() - 1]
    }

    /// The host behind the line in front of the near end, if there is one.
    pub fn third(&self) -> Option<&Node> {
        self.hosts
            .iter()
            .find(|host| host.name == crate::plan::THIRD)
    }

    /// Address of the last host that is on the path itself: the far end, or that of the tunnel.
    pub fn far_on_path(&self) -> Option<IpAddr> {
        self.hosts.iter().rev().find_map(|host| host.underlay)
    }

    /// One of the two ends.
    pub fn end(&self, side: Side) -> &Node {
        match side {
            Side::Near => self.near(),
            Side::Far => self.far(),
        }
    }
}

/// Error building a testbed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The kernel refused an operation.
    #[error("on {host}: {source}")]
    Kernel {
        /// The host it was for.
        host: &'static str,
        /// The feature and the reason.
        source: NetlinkError,
    },
    /// Another system call failed.
    #[error("on {host}: {source}")]
    System {
        /// The host it was for.
        host: &'static str,
        /// The feature and the reason.
        source: io::Error,
    },
}

/// For `map_err` of netlink calls.
pub(crate) fn kernel(host: &'static str) -> impl Fn(NetlinkError) -> BuildError {
    move |source| BuildError::Kernel { host, source }
}

/// For `map_err` of other calls.
pub(crate) fn system(host: &'static str) -> impl Fn(io::Error) -> BuildError {
    move |source| BuildError::System { host, source }
}
