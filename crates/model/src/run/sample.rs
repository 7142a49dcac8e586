//! Samples: single executions of a step on one layer.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Key, Pmtu, Probes, Short, SizeStep, SweepStep, Tcp, Udp};
use crate::facts::Connection;
use crate::{
    text,
    text::{Text, Value},
};

/// A load that was too short on its path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TooShort {
    /// Actual duration, s.
    pub took_s: f64,
    /// Minimum duration required, s.
    pub needed_s: f64,
}

/// One execution of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Number in the run, in order of execution.
    pub number: u32,
    /// The measurement.
    pub key: Key,
    /// Number of the block; samples of one block were taken close together.
    pub block: u32,
    /// Start, µs after the run's start.
    pub at_us: u64,
    /// Duration, µs.
    pub took_us: u64,
    /// Start of the load, µs after the run's start; times in its series are relative to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_at_us: Option<u64>,
    /// True if it is valid.
    pub valid: bool,
    /// Reasons why it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<Invalid>,
    /// Set if its load was too short on this path: it shows its goodput, but nothing can be ruled
    /// out by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_short: Option<TooShort>,
    /// Result of the TCP (or QUIC) load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Tcp>,
    /// Result of the UDP load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp: Option<Udp>,
    /// Result of the latency probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<Probes>,
    /// Result of the probes of the third point, sent in the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub third: Option<Probes>,
    /// The steps of a sweep, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<SweepStep>,
    /// Capacity of the path by the sweep, bit/s of IP packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bps: Option<f64>,
    /// Result of the path MTU search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pmtu: Option<Pmtu>,
    /// Results by datagram size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizeStep>,
    /// Result of the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<Short>,
    /// Evidence of the near host for this sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<crate::evidence::Evidence>,
    /// Evidence of the far host for this sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far: Option<crate::evidence::Evidence>,
}

impl Sample {
    /// An empty sample that started `at_us` µs after the run's start.
    pub fn new(key: Key, at_us: u64) -> Self {
        Self {
            number: 0,
            key,
            block: 0,
            at_us,
            took_us: 0,
            load_at_us: None,
            valid: true,
            invalid: Vec::new(),
            too_short: None,
            tcp: None,
            udp: None,
            probes: None,
            third: None,
            sweep: Vec::new(),
            capacity_bps: None,
            pmtu: None,
            sizes: Vec::new(),
            short: None,
            near: None,
            far: None,
        }
    }
}

/// Reason why a sample is invalid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum Invalid {
    /// The kernel used another congestion control.
    CongestionReplaced {
        /// Requested.
        #[serde(rename = "asked")]
        requested: String,
        /// In use.
        used: String,
    },
    /// The sending host's processor was saturated, so that it limited the load instead of the path.
    SenderProcessor {
        /// Utilisation of the busiest processor.
        share: f64,
    },
    /// The receiving host's processor was saturated.
    ReceiverProcessor {
        /// Utilisation of the busiest processor.
        share: f64,
    },
    /// A clock was stepped during the measurement.
    ClockStep {
        /// Step, µs.
        by_us: i64,
    },
    /// The route to the other end changed.
    RouteChanged {
        /// Own address of the route before; `none` without a route.
        before: String,
        /// The same after.
        after: String,
    },
    /// The tunnel changed from a direct connection to a relay or back.
    RelayChanged {
        /// Before.
        before: Connection,
        /// After.
        after: Connection,
    },
    /// It was too short.
    CutShort,
    /// Something failed.
    Failed {
        /// Description of the failure.
        why: Text,
    },
}

impl Invalid {
    /// A failure with its description.
    pub fn failed(why: Text) -> Self {
        Self::Failed { why }
    }

    /// The reason as text.
    pub fn text(&self) -> Text {
        let percent = |share: &f64| Value::Share((share * 100.0).round() / 100.0);
        match self {
            Self::CongestionReplaced { requested, used } => {
                text!(
                    "requested {asked}, the socket used {used}",
                    asked = requested,
                    used = used
                )
            }
            Self::SenderProcessor { share } => text!(
                "the sender's busiest processor was {share} busy",
                share = percent(share)
            ),
            Self::ReceiverProcessor { share } => text!(
                "the receiver's busiest processor was {share} busy",
                share = percent(share)
            ),
            Self::ClockStep { by_us } => text!(
                "a clock was stepped by {by} during the measurement",
                by = Value::Us(*by_us as f64)
            ),
            Self::RouteChanged { before, after } => text!(
                "the route changed from {before} to {after}",
                before = route(before),
                after = route(after)
            ),
            Self::RelayChanged { before, after } => text!(
                "the tunnel changed from {before} to {after}",
                before = before.text(),
                after = after.text()
            ),
            Self::CutShort => text!("it was cut short"),
            Self::Failed { why } => why.clone(),
        }
    }
}

/// The source address of a route. Earlier versions wrote it behind "from".
fn route(address: &str) -> Text {
    match address.strip_prefix("from ").unwrap_or(address) {
        "none" => text!("none"),
        address => Text::name(address),
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for Invalid {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents of earlier versions have "from" in front of the address.
    #[test]
    fn a_changed_route_has_from_once() {
        for (before, after) in [("from 10.0.0.1", "none"), ("10.0.0.1", "none")] {
            let changed = Invalid::RouteChanged {
                before: before.to_owned(),
                after: after.to_owned(),
            };
            assert_eq!(
                changed.to_string(),
                "the route changed from 10.0.0.1 to none"
            );
        }
    }
}
