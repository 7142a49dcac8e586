//! The two hosts of a path, and the load of others on it.

use serde::{Deserialize, Serialize};

use super::{
    Limit, Nanos, Parameter,
    walk::{AtMost, table},
};
use crate::{
    cell::EndQdisc,
    net::{Direction, Side},
    units::{Bytes, Rate},
};

table! {
    /// The two hosts.
    pub struct Ends {
        /// Where `measure` runs: the client of a spec. It sends up.
        near: End,
        /// Where `serve` runs: the server of a spec. It sends down.
        far: End,
    }
}

table! {
    /// One host.
    pub struct End {
        /// Congestion control of the flows it sends, by the kernel's name.
        cc: Option<Parameter<String>>,
        /// Queue of its own device: `"noqueue"`, `"fifo"`, `"fq"`, `"fq_codel"`, `"codel"`,
        /// `"pie"`, `"cake"` or `"dualpi2"`.
        qdisc: Option<Parameter<EndQdisc>>,
        /// Rate of a shaper around that queue, bit/s, or `"unlimited"` for none.
        shape_bps: Option<Parameter<Limit<Rate>>>,
        /// Whether it asks for and accepts ECN.
        ecn: Option<Parameter<bool>>,
        /// Largest receive buffer its kernel grows to (`tcp_rmem`), bytes, or `"unlimited"` if it
        /// never is the limit.
        rmem_bytes: Option<Parameter<Limit<Bytes>>>,
        /// Largest send buffer its kernel grows to (`tcp_wmem`), bytes, or `"unlimited"`.
        wmem_bytes: Option<Parameter<Limit<Bytes>>>,
        /// Bytes not yet sent that a program may queue (`tcp_notsent_lowat`), or `"unlimited"`, as
        /// the kernel has it.
        notsent_lowat_bytes: Option<Parameter<Limit<Bytes>>>,
    }
}

impl Ends {
    /// One of the two.
    pub fn end(&self, side: Side) -> &End {
        match side {
            Side::Near => &self.near,
            Side::Far => &self.far,
        }
    }

    /// One of the two, to change it.
    pub fn end_mut(&mut self, side: Side) -> &mut End {
        match side {
            Side::Near => &mut self.near,
            Side::Far => &mut self.far,
        }
    }
}

table! {
    /// A group of flows of others that share the bottleneck.
    pub struct Competitor {
        /// What kind: `"tcp"` (bulk), `"udp"` (constant rate), `"short"` (one request and response
        /// a connection, one after the other).
        kind: Option<Parameter<CompetitorKind>>,
        /// Direction of the data: `"down"`, `"up"` or `"both"`.
        direction: Option<Parameter<Directions>>,
        /// Flows in each direction.
        flows: Option<Parameter<u32>>,
        /// Their congestion control, of `tcp` and `short`; absent = that of the sending end.
        cc: Option<Parameter<String>>,
        /// Payload bit/s of each flow, of `udp`.
        rate_bps: Option<Parameter<Rate>>,
        /// Payload bytes of a datagram, of `udp`.
        payload_bytes: Option<Parameter<u32>>,
        /// Bytes of a response, of `short`.
        size_bytes: Option<Parameter<Bytes>>,
        /// Start, ns after the start of the load.
        start_ns: Option<Parameter<Nanos>>,
        /// Stop, ns after the start of the load, or `"unlimited"` if it outlasts it.
        stop_ns: Option<Parameter<Limit<Nanos>>>,
    }
}

/// Kind of competing flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompetitorKind {
    /// Bulk TCP.
    Tcp,
    /// UDP datagrams at a constant rate.
    Udp,
    /// One request and response a connection, one after the other.
    Short,
}

/// Directions of data, one or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Directions {
    /// From the far end to the near one.
    Down,
    /// From the near end to the far one.
    Up,
    /// Each way.
    Both,
}

impl Directions {
    /// Each direction that is meant.
    pub fn each(self) -> Vec<Direction> {
        match self {
            Self::Down => vec![Direction::Down],
            Self::Up => vec![Direction::Up],
            Self::Both => vec![Direction::Down, Direction::Up],
        }
    }

    /// These directions, if they are one of the three.
    pub fn of(directions: &[Direction]) -> Option<Self> {
        match directions {
            [Direction::Down] => Some(Self::Down),
            [Direction::Up] => Some(Self::Up),
            [Direction::Down, Direction::Up] => Some(Self::Both),
            _ => None,
        }
    }
}

/// Something about a path that the lab cannot copy, and what stands for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    /// What cannot be copied.
    pub of: NotModelled,
    /// At which end; absent = between the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Side>,
    /// Names of the parameters that stand for it, as in `underlay.up.rate_bps`; none = nothing
    /// does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
}

/// What the lab cannot copy: it models paths, in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotModelled {
    /// A processor that is too slow for the load; processing takes no time in the lab.
    Processor,
    /// A radio link, whose rate and delay change with the air and with other stations.
    Radio,
    /// A relay that packets take because there is no direct way.
    Relay,
}

impl AtMost for CompetitorKind {
    fn at_most(&self, _: &Self) -> bool {
        false
    }
}

impl AtMost for Directions {
    fn at_most(&self, _: &Self) -> bool {
        false
    }
}
