//! Layers of a path: the underlay, and a tunnel over it.

use serde::{Deserialize, Serialize};

use super::{
    Limit, Nanos, Parameter,
    walk::{Visitor, Walk, table},
};
use crate::{
    cell::{Buffer, Peak, Policer, Quantiles, Queue, RateSteps, TunnelAt, TunnelKind},
    net::{Direction, IpVersion},
    units::{Rate, Share},
};

table! {
    /// The path itself.
    pub struct Underlay {
        /// From the far end to the near one.
        down: Line,
        /// From the near end to the far one.
        up: Line,
        /// MTU of every link between the ends, bytes of the IP packet.
        mtu_bytes: Option<Parameter<u32>>,
        /// Address family: `"v4"` or `"v6"`.
        ip: Option<Parameter<IpVersion>>,
    }
}

table! {
    /// A tunnel over the underlay.
    pub struct Tunnel {
        /// Implementation: `"wireguard"`.
        kind: Option<Parameter<TunnelKind>>,
        /// MTU of the tunnel device, bytes of the inner IP packet.
        mtu_bytes: Option<Parameter<u32>>,
        /// Location of its endpoints: on the two hosts (`"ends"`), or on routers in front of them
        /// (`"routers"`).
        at: Option<Parameter<TunnelAt>>,
        /// Address family inside: `"v4"` or `"v6"`.
        ip: Option<Parameter<IpVersion>>,
        /// Stage passed only by tunnel packets from the far end; the lab has its rate, buffer and
        /// loss.
        down: Line,
        /// Stage passed only by tunnel packets to the far end; the lab has its rate, buffer and
        /// loss.
        up: Line,
    }
}

table! {
    /// One direction of a layer: a bottleneck, then a delay with its impairments.
    pub struct Line {
        /// Rate of the bottleneck, bit/s with Ethernet headers, or `"unlimited"`.
        rate_bps: Option<Parameter<Limit<Rate>>>,
        /// Kind of the bottleneck's queue: `"fifo"`, `"fq"`, `"fq_codel"`, `"codel"`, `"pie"`,
        /// `"cake"`, `"dualpi2"`, `"red"`, or `"policer"`, which drops traffic above the rate.
        queue: Option<Parameter<Queue>>,
        /// Capacity of that queue: `{"bytes": …}` with Ethernet headers, `{"packets": …}`, or
        /// `"kernel"` for the kernel's default limit of an AQM; for a policer, its burst size.
        buffer: Option<Parameter<Buffer>>,
        /// Base one-way delay, without any queue, ns.
        delay_ns: Option<Parameter<Nanos>>,
        /// Half width of the uniform delay variation, ns; it never reorders.
        jitter_ns: Option<Parameter<Nanos>>,
        /// Loss outside of the queue, see below.
        loss: Option<Loss>,
        /// Share of packets that skip the delay, 0 to 1.
        reorder: Option<Parameter<Share>>,
        /// Share of packets that are duplicated, 0 to 1.
        duplicate: Option<Parameter<Share>>,
        /// True if loss, jitter, reordering and duplicates come before the bottleneck instead of
        /// after it.
        faults_first: Option<Parameter<bool>>,
        /// Policer in front of the bottleneck: `{"rate_bps": …, "burst_bytes": …}`; absent = none.
        policer: Option<Parameter<Policer>>,
        /// Higher rate of the bottleneck until a bucket is empty: `{"rate_bps": …, "burst_bytes":
        /// …}`; absent = none.
        peak: Option<Parameter<Peak>>,
        /// Changes of the bottleneck's rate: `{"steps": [{"at_ns": …, "rate_bps": …}],
        /// "repeat_ns": …}`; absent = none.
        rate_steps: Option<Parameter<RateSteps>>,
        /// Delay variation by quantiles, instead of `jitter_ns`: `[{"share": …, "delay_ns": …}]`;
        /// absent = none.
        jitter_quantiles: Option<Parameter<Quantiles>>,
        /// Time for which packets gather after the first one, to leave together, ns; absent = none.
        slots_ns: Option<Parameter<Nanos>>,
    }
}

impl Underlay {
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

/// Loss outside of queues, by its pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Loss {
    /// Independent loss of each packet.
    Random {
        /// The probability, 0 to 1; 0 = known to be lossless.
        share: Parameter<Share>,
    },
    /// Bursts: two states with their own loss (Gilbert-Elliott, as in netem).
    Bursts {
        /// Probability to go from good to bad, per packet.
        p: Parameter<Share>,
        /// Probability to go from bad to good, per packet: the inverse of the mean burst length.
        r: Parameter<Share>,
        /// Loss in the bad state.
        bad: Parameter<Share>,
        /// Loss in the good state.
        good: Parameter<Share>,
    },
    /// Exactly every n-th packet.
    Every {
        /// n, 2 to 65535.
        packets: Parameter<u16>,
    },
}

/// Average loss of two states, bad and good, entered with these probabilities per packet: weighted
/// by the time in each (Hasslinger and Hohlfeld: The Gilbert-Elliott Model for Packet Loss, 2008,
/// equation 3). A path that changes to neither stays in the good one, in which it starts.
pub fn average_of_states([to_bad, to_good]: [f64; 2], [bad, good]: [f64; 2]) -> f64 {
    match to_bad + to_good {
        0.0 => good,
        sum => (to_bad * bad + to_good * good) / sum,
    }
}

impl Loss {
    /// Average share of packets lost.
    pub fn average(&self) -> f64 {
        match self {
            Self::Random { share } => share.value.get(),
            Self::Bursts { p, r, bad, good } => {
                let [p, r, bad, good] = [p, r, bad, good].map(|known| known.value.get());
                average_of_states([p, r], [bad, good])
            }
            Self::Every { packets } => 1.0 / f64::from(packets.value.max(1)),
        }
    }
}

impl Walk for Loss {
    fn walk(&self, name: &str, visit: &mut Visitor<'_>) {
        match self {
            Self::Random { share } => visit(&format!("{name}.random.share"), share),
            Self::Bursts { p, r, bad, good } => {
                for (leaf, share) in [("p", p), ("r", r), ("bad", bad), ("good", good)] {
                    visit(&format!("{name}.bursts.{leaf}"), share);
                }
            }
            Self::Every { packets } => visit(&format!("{name}.every.packets"), packets),
        }
    }
}
