//! The capacity of a path as measured, for shapers of its hosts.

use serde::{Deserialize, Serialize};

use crate::{
    net::{Direction, Side},
    remedy::Flow,
};

/// Capacity of a path in each direction, bit/s of IP packets of the underlay; absent = unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathCapacity {
    /// From the far end to the near one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_bps: Option<f64>,
    /// From the near end to the far one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_bps: Option<f64>,
}

impl PathCapacity {
    /// The capacity of each direction.
    pub fn of(bps: impl Fn(Direction) -> Option<f64>) -> Self {
        Self {
            down_bps: bps(Direction::Down),
            up_bps: bps(Direction::Up),
        }
    }

    /// Returns true if neither direction is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// What an end sends or receives over the path.
    pub fn of_end(self, side: Side) -> LineCapacity {
        let (egress_bps, ingress_bps) = match side {
            Side::Near => (self.up_bps, self.down_bps),
            Side::Far => (self.down_bps, self.up_bps),
        };
        LineCapacity {
            egress_bps,
            ingress_bps,
        }
    }
}

/// Capacity of the line of a host; absent = unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LineCapacity {
    /// Of what it sends, bit/s of IP packets.
    pub egress_bps: Option<f64>,
    /// Of what it receives, bit/s of IP packets.
    pub ingress_bps: Option<f64>,
}

impl LineCapacity {
    /// That of one direction.
    pub fn of(self, flow: Flow) -> Option<f64> {
        match flow {
            Flow::Egress => self.egress_bps,
            Flow::Ingress => self.ingress_bps,
        }
    }
}
