//! A third point of a run: it divides the path into the segment of the near end and the rest.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::Spread;
use crate::{net::Direction, text, text::Text};

/// A host between the ends, or beside the path at the border of two of its segments, that the near
/// end probes while it loads the path: its router, an access point, a wired host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThirdPoint {
    /// Its address.
    pub address: IpAddr,
    /// Kind of answers.
    pub answers: ThirdAnswers,
    /// Goodput of TCP between it and the near end, without the load; empty = not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<SegmentRate>,
}

/// Kind of answers of a third point to probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThirdAnswers {
    /// `pathtwin serve`.
    Agent,
    /// Its kernel, by ICMP echo. Routers may answer these late, or only some.
    Icmp,
    /// Its kernel, by a connection that is accepted or refused.
    Tcp,
}

impl ThirdAnswers {
    /// Its description.
    pub fn text(self) -> Text {
        match self {
            Self::Agent => text!("pathtwin serve"),
            Self::Icmp => text!("ICMP echo"),
            Self::Tcp => text!("TCP connections"),
        }
    }
}

impl ThirdPoint {
    /// Its address, and the kind of answers.
    pub fn text(&self) -> Text {
        text!(
            "{address} by {answers}",
            address = self.address,
            answers = self.answers.text()
        )
    }
}

/// Goodput of the segment of the near end in a direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SegmentRate {
    /// Direction of the data, as of the path: `down` is to the near end.
    pub direction: Direction,
    /// Goodput, bit/s.
    #[serde(flatten)]
    pub goodput_bps: Spread,
}
