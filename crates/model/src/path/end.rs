//! Hosts of a path, and competing traffic.

use serde::{Deserialize, Serialize};

use super::{
    Limit, Nanos, Parameter,
    walk::{AtMost, table},
};
use crate::{
    cell::EndQdisc,
    net::{LoadDirection, Side},
    units::{Bytes, Rate},
};

table! {
    /// The two hosts.
    pub struct Ends {
        /// The host that runs `measure`: the client of a spec, which sends up.
        near: End,
        /// The host that runs `serve`: the server of a spec, which sends down.
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
        /// True if it requests and accepts ECN.
        ecn: Option<Parameter<bool>>,
        /// Maximum receive buffer (`tcp_rmem`), bytes, or `"unlimited"` if it is never the limit.
        rmem_bytes: Option<Parameter<Limit<Bytes>>>,
        /// Maximum send buffer (`tcp_wmem`), bytes, or `"unlimited"`.
        wmem_bytes: Option<Parameter<Limit<Bytes>>>,
        /// Limit of unsent bytes in a socket (`tcp_notsent_lowat`), or `"unlimited"`, the kernel's
        /// default.
        notsent_lowat_bytes: Option<Parameter<Limit<Bytes>>>,
    }
}

impl Ends {
    /// One of the two ends.
    pub fn end(&self, side: Side) -> &End {
        match side {
            Side::Near => &self.near,
            Side::Far => &self.far,
        }
    }

    /// One of the two ends, mutable.
    pub fn end_mut(&mut self, side: Side) -> &mut End {
        match side {
            Side::Near => &mut self.near,
            Side::Far => &mut self.far,
        }
    }
}

table! {
    /// A group of competing flows at the bottleneck.
    pub struct Competitor {
        /// Kind: `"tcp"` (bulk), `"udp"` (constant rate), `"short"` (consecutive requests, each on
        /// its own connection).
        kind: Option<Parameter<CompetitorKind>>,
        /// Direction of the data: `"down"`, `"up"` or `"both"`.
        direction: Option<Parameter<LoadDirection>>,
        /// Flows in each direction.
        flows: Option<Parameter<u32>>,
        /// Congestion control of `tcp` and `short`; absent = that of the sending end.
        cc: Option<Parameter<String>>,
        /// Payload bit/s of each `udp` flow.
        rate_bps: Option<Parameter<Rate>>,
        /// Payload bytes of a `udp` datagram.
        payload_bytes: Option<Parameter<u32>>,
        /// Bytes of a `short` response.
        size_bytes: Option<Parameter<Bytes>>,
        /// Consecutive requests of each `short` flow; absent = as many as the time allows.
        requests: Option<Parameter<u32>>,
        /// Time from one such batch of requests to the next, ns; absent = one batch.
        every_ns: Option<Parameter<Nanos>>,
        /// Start, ns after the start of the load.
        start_ns: Option<Parameter<Nanos>>,
        /// Stop, ns after the start of the load, or `"unlimited"` if it continues to the end.
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
    /// Consecutive requests, each on its own connection.
    Short,
}

/// A property that the lab cannot model, and the parameters that replace it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    /// The property.
    pub of: NotModelled,
    /// The end it belongs to; absent = between the ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Side>,
    /// Names of the parameters that replace it, such as `underlay.up.rate_bps`; empty = none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
}

/// Properties that the lab cannot model: it models paths, in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotModelled {
    /// A processor too slow for the load; processing takes no time in the lab.
    Processor,
    /// A radio link, whose rate and delay vary with the channel and other stations.
    Radio,
    /// A relay used because there is no direct connection.
    Relay,
}

impl AtMost for CompetitorKind {
    fn at_most(&self, _: &Self) -> bool {
        false
    }
}

impl AtMost for LoadDirection {
    fn at_most(&self, _: &Self) -> bool {
        false
    }
}
