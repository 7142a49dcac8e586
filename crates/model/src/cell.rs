//! The checked description of one cell: one path, one combination of settings, one seed.
//!
//! The guest reads it as JSON, and the cache key is computed from it. Every value is valid and
//! resolved. Only [`crate::spec`] makes cells from text.

pub mod bounds;
mod check;
mod collect;
pub mod default;
mod end;
mod engine;
mod field;
mod kernel;
mod line;
mod queue;
mod rule;
mod shaper;
mod stage;
mod tunnel;

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

pub use end::{End, EndQdisc, Ends};
pub use engine::PathEngine;
pub use field::{Field, Table};
pub use kernel::KernelName;
pub use line::{loss_rule, quantiles_rule, steps_alone_rule};
pub use queue::{Buffer, ETHERNET_HEADER, Loss, Queue};
pub use rule::{Impossible, Rule, is_cc, is_name};
pub use shaper::Shaper;
pub use stage::{Peak, Policer, Quantile, Quantiles, RateStep, RateSteps};
pub use tunnel::{Tunnel, TunnelAt, TunnelKind, TunnelStage};

use crate::{
    net::{Direction, IpVersion},
    units::{Bytes, Rate, Seed, Share, nanos, opt_nanos},
};

/// Version of this document; part of the cache key.
pub const CELL_SCHEMA: u32 = 1;

/// One path, one combination of settings, one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// [`CELL_SCHEMA`] of the program that made it.
    pub schema: u32,
    /// The spec's name.
    pub name: String,
    /// Matrix values that distinguish this cell from the others of its spec, by dotted key.
    pub factors: BTreeMap<String, serde_json::Value>,
    /// Seed of every random number in the guest.
    pub seed: Seed,
    /// Measured time, after `warmup_ns`.
    #[serde(rename = "duration_ns", with = "nanos")]
    pub duration: Duration,
    /// Duration of the load before the measured time.
    #[serde(rename = "warmup_ns", with = "nanos")]
    pub warmup: Duration,
    /// Duration of idle probing before the load starts.
    #[serde(rename = "idle_ns", with = "nanos")]
    pub idle: Duration,
    /// Interval of the TCP_INFO and queue series.
    #[serde(rename = "sample_ns", with = "nanos")]
    pub sample: Duration,
    /// Kernel image that runs it; absent = the lab's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelName>,
    /// How the path is made.
    #[serde(default, skip_serializing_if = "PathEngine::is_default")]
    pub engine: PathEngine,
    /// The path between the two ends.
    pub path: LabPath,
    /// The tunnel, if any.
    pub tunnel: Option<Tunnel>,
    /// The two hosts.
    pub ends: Ends,
    /// The measured traffic.
    pub traffic: Traffic,
    /// Competing traffic.
    pub cross: Vec<Traffic>,
}

impl Cell {
    /// Virtual time from the first idle probe to the end of the load.
    pub fn length(&self) -> Duration {
        self.idle + self.warmup + self.duration
    }

    /// Number of layers that a plan measures: the underlay, and the tunnel if there is one.
    pub fn layers(&self) -> usize {
        1 + usize::from(self.tunnel.is_some())
    }
}

/// Both directions of a lab path, checked; the model of any path is [`crate::path::Path`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabPath {
    /// From the far end to the near one.
    pub down: Line,
    /// From the near end to the far one.
    pub up: Line,
    /// MTU of every link between the ends, bytes of the IP packet.
    pub mtu: u32,
    /// Address family of the path (the outer one if there is a tunnel).
    pub ip: IpVersion,
    /// A second line in series, in front of the near end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<Local>,
}

/// A line between the near end and a third host, behind which the rest of the path begins: a radio
/// or a cable at home in front of the router. It has no delay of its own. The third host may shape
/// what it sends to the rest of the path, and what it gets from there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// To the near end.
    pub down: TunnelStage,
    /// From the near end.
    pub up: TunnelStage,
    /// Shaper of the third host for what it gets from the rest of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape_down: Option<Shaper>,
    /// Shaper of the third host for what it sends to the rest of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape_up: Option<Shaper>,
}

impl Local {
    /// The line that carries `direction`.
    pub fn line(&self, direction: Direction) -> &TunnelStage {
        match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }

    /// The third host's shaper of `direction`.
    pub fn shaper(&self, direction: Direction) -> Option<Shaper> {
        match direction {
            Direction::Down => self.shape_down,
            Direction::Up => self.shape_up,
        }
    }

    /// Returns true if it neither limits, loses nor shapes anything.
    pub fn is_nothing(&self) -> bool {
        let shaped = self.shape_down.is_some() || self.shape_up.is_some();
        self.down.is_nothing() && self.up.is_nothing() && !shaped
    }
}

impl LabPath {
    /// Two-way propagation delay.
    pub fn rtt(&self) -> Duration {
        self.down.delay + self.up.delay
    }

    /// The line that carries `direction`.
    pub fn line(&self, direction: Direction) -> &Line {
        match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }

    /// The line that carries `direction`, mutable.
    pub fn line_mut(&mut self, direction: Direction) -> &mut Line {
        match direction {
            Direction::Down => &mut self.down,
            Direction::Up => &mut self.up,
        }
    }
}

/// One direction of a path: a bottleneck, then a delay with its impairments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// One-way propagation delay.
    #[serde(rename = "delay_ns", with = "nanos")]
    pub delay: Duration,
    /// Rate of the bottleneck; absent = not limited.
    pub rate: Option<Rate>,
    /// Capacity of the bottleneck's queue; for a policer, its burst size.
    pub buffer: Buffer,
    /// Kind of the bottleneck's queue.
    pub queue: Queue,
    /// Loss after the bottleneck.
    pub loss: Loss,
    /// Half width of the uniform delay variation.
    #[serde(rename = "jitter_ns", with = "nanos")]
    pub jitter: Duration,
    /// Share of packets that skip the delay.
    pub reorder: Share,
    /// Share of packets that are duplicated.
    pub duplicate: Share,
    /// True if delay and impairments come before the bottleneck instead of after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub faults_first: bool,
    /// A policer in front of the bottleneck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policer: Option<Policer>,
    /// A higher rate of the bottleneck at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Peak>,
    /// Changes of the bottleneck's rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_steps: Option<RateSteps>,
    /// Distribution of the delay variation; `jitter` is then 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_quantiles: Option<Quantiles>,
    /// Time for which packets gather after the first one, to leave together.
    #[serde(
        rename = "slots_ns",
        default,
        skip_serializing_if = "Option::is_none",
        with = "opt_nanos"
    )]
    pub slots: Option<Duration>,
}

/// A group of flows of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// Kind of traffic.
    pub kind: TrafficKind,
    /// Directions of the data; both = one group per direction.
    pub directions: Vec<Direction>,
    /// Flows in each direction.
    pub flows: u32,
    /// Congestion control, if not that of the sending end.
    pub cc: Option<String>,
    /// Interval of the latency probes beside the load; absent = none. Only in measured traffic.
    #[serde(rename = "probe_ns", with = "opt_nanos")]
    pub probe: Option<Duration>,
    /// Start, after the load of the cell starts.
    #[serde(rename = "start_ns", with = "nanos")]
    pub start: Duration,
    /// Stop, after the load of the cell starts; absent = with the cell.
    #[serde(rename = "stop_ns", with = "opt_nanos")]
    pub stop: Option<Duration>,
}

/// A number of requests, once or again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Consecutive requests of each flow.
    pub requests: u32,
    /// Time from the first request of a batch to that of the next, or more if a batch takes longer;
    /// absent = one batch.
    #[serde(rename = "every_ns", with = "opt_nanos")]
    pub every: Option<Duration>,
}

/// Kind of traffic, with its own parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrafficKind {
    /// Bulk TCP: the sender always has data.
    Tcp,
    /// UDP datagrams at a constant rate per flow.
    Udp {
        /// Payload bits per second of each flow.
        rate: Rate,
        /// Payload bytes of a datagram.
        payload: u32,
    },
    /// Consecutive requests, each on its own connection.
    Short {
        /// Bytes of the response.
        size: Bytes,
        /// Limit of the requests; absent = as many as the time allows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batch: Option<Batch>,
    },
    /// Probes only, no load.
    Idle,
}
