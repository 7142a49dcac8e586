//! The two hosts of a cell.

use serde::{Deserialize, Serialize};

use crate::{
    net::Side,
    units::{Bytes, Rate},
};

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
