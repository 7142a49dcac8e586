//! The checked description of one cell: one path, one combination of settings, one seed.
//!
//! The guest reads it as JSON, and the cache key is computed from it. Every value is valid and
//! resolved. Only [`crate::spec`] makes cells from text.

pub mod bounds;
mod check;
mod collect;
pub mod default;
mod field;
mod kernel;
mod line;
mod rule;
mod stage;

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::{Deserialize, Serialize};

pub use field::{Field, Table};
pub use kernel::KernelName;
pub use line::{loss_rule, quantiles_rule, steps_alone_rule};
pub use rule::{Impossible, Rule, is_cc, is_name};
pub use stage::{Peak, Policer, Quantile, Quantiles, RateStep, RateSteps};

use crate::{
    net::{Direction, IpVersion, Side},
    units::{Bytes, Rate, Seed, Share, nanos, opt_nanos},
};

/// Version of this document; part of the cache key.
pub const CELL_SCHEMA: u32 = 1;

/// Bytes of an Ethernet header, which every rate and every byte-counted buffer includes.
pub const ETHERNET_HEADER: u64 = 14;

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
    /// Kernel image that runs it; absent = the usual one of the lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelName>,
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
/// or a cable at home in front of the router. It has no delay of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// To the near end.
    pub down: TunnelStage,
    /// From the near end.
    pub up: TunnelStage,
}

impl Local {
    /// The line that carries `direction`.
    pub fn line(&self, direction: Direction) -> &TunnelStage {
        match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
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

/// A tunnel over the path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tunnel {
    /// Implementation.
    pub kind: TunnelKind,
    /// MTU of the tunnel device.
    pub mtu: u32,
    /// Location of the tunnel's endpoints.
    pub at: TunnelAt,
    /// Address family inside.
    pub ip: IpVersion,
    /// Stage passed only by tunnel packets from the far end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down: Option<TunnelStage>,
    /// Stage passed only by tunnel packets to the far end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<TunnelStage>,
}

impl Tunnel {
    /// Returns the stage passed only by tunnel packets in `direction`.
    pub fn stage(&self, direction: Direction) -> Option<&TunnelStage> {
        match direction {
            Direction::Down => self.down.as_ref(),
            Direction::Up => self.up.as_ref(),
        }
    }
}

/// A stage in front of the bottleneck that only packets of the tunnel pass: a line that treats UDP
/// worse, or a host that is too slow for the tunnel. A direction of a [`Local`] line has the same
/// parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunnelStage {
    /// Its rate, outer and Ethernet headers included; absent = not limited.
    #[serde(rename = "rate_bps")]
    pub rate: Option<Rate>,
    /// Capacity of its queue, which drops at the tail; counted in full packets.
    pub buffer: Buffer,
    /// Its loss, random or in bursts.
    pub loss: Loss,
}

impl TunnelStage {
    /// Whether it neither limits nor loses anything.
    pub fn is_nothing(&self) -> bool {
        self.rate.is_none() && self.loss == Loss::None
    }
}

/// Implementation of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelKind {
    /// The kernel's own WireGuard.
    Wireguard,
}

/// Location of a tunnel's endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TunnelAt {
    /// On the two hosts.
    Ends,
    /// On routers in front of the two hosts.
    Routers,
}

/// The two hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ends {
    /// The near host, which sends up.
    #[serde(rename = "client")]
    pub near: End,
    /// The far host, which sends down.
    #[serde(rename = "server")]
    pub far: End,
}

impl Ends {
    /// One of the two hosts.
    pub fn end(&self, side: Side) -> &End {
        match side {
            Side::Near => &self.near,
            Side::Far => &self.far,
        }
    }

    /// One of the two hosts, mutable.
    pub fn end_mut(&mut self, side: Side) -> &mut End {
        match side {
            Side::Near => &mut self.near,
            Side::Far => &mut self.far,
        }
    }
}

/// Settings of one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Congestion control of the flows it sends.
    pub cc: String,
    /// Queue of its own device.
    pub qdisc: EndQdisc,
    /// Rate of a shaper on its own device, around `qdisc`; absent = none.
    pub shape: Option<Rate>,
    /// True if it requests and accepts ECN.
    pub ecn: bool,
    /// Upper limit of receive buffer autotuning; absent = sized for the path.
    pub rmem: Option<Bytes>,
    /// Upper limit of send buffer autotuning; absent = sized for the path.
    pub wmem: Option<Bytes>,
    /// Limit of unsent bytes in a socket (`tcp_notsent_lowat`).
    pub notsent_lowat: Option<Bytes>,
}

/// Queue of a host's own device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndQdisc {
    /// No queue: packets are transmitted immediately.
    Noqueue,
    /// First in, first out, 1000 packets.
    Fifo,
    /// Fair queueing with pacing.
    Fq,
    /// Fair queueing with CoDel.
    FqCodel,
    /// CoDel on a single queue.
    Codel,
    /// PIE on a single queue.
    Pie,
    /// CAKE.
    Cake,
    /// DualPI2.
    Dualpi2,
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
    },
    /// Probes only, no load.
    Idle,
}
