//! One step, run once, on one layer.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Pmtu, Probes, Short, SizeStep, SweepStep, Tcp, Udp};
use crate::net::{Direction, IpVersion, Layer};
use crate::{
    text,
    text::{Text, Value},
};

/// What was run: samples of the same key are repeats of each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Kind of step.
    pub step: StepKind,
    /// Layer it crossed.
    pub layer: Layer,
    /// Address family.
    pub family: IpVersion,
    /// Direction of the data; absent where it goes both ways by nature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Whether there was as much load in the other direction.
    #[serde(
        rename = "opposed",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub bidirectional: bool,
    /// Connections at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<u32>,
    /// Congestion control that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    /// Rate that was asked for, bit/s of UDP payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Bytes of a request's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Latency without load.
    Idle,
    /// UDP at rising rates.
    UdpSweep,
    /// UDP at one rate.
    Udp,
    /// Bulk TCP.
    Tcp,
    /// Path MTU.
    Pmtu,
    /// Datagrams of several sizes.
    Sizes,
    /// Requests on connections of their own.
    Short,
    /// HTTP/1.1 requests on one connection.
    Http,
    /// Bulk QUIC.
    Quic,
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "idle",
            Self::UdpSweep => "udp-sweep",
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Pmtu => "pmtu",
            Self::Sizes => "sizes",
            Self::Short => "short",
            Self::Http => "http",
            Self::Quic => "quic",
        })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} {}", self.layer, self.family, self.step)?;
        if let Some(direction) = self.direction {
            write!(f, " {direction}")?;
        }
        if self.bidirectional {
            f.write_str(" opposed")?;
        }
        if let Some(flows) = self.flows {
            write!(f, " x{flows}")?;
        }
        if let Some(cc) = &self.cc {
            write!(f, " {cc}")?;
        }
        if let Some(rate) = self.rate_bps {
            write!(f, " {}", crate::units::Rate::from_bps(rate))?;
        }
        if let Some(bytes) = self.bytes {
            write!(f, " {}", crate::units::Bytes(bytes))?;
        }
        Ok(())
    }
}

/// One step, run once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Number in the run, in the order they were run.
    pub number: u32,
    /// What was run.
    pub key: Key,
    /// Number of the block; samples of one block were run close together.
    pub block: u32,
    /// Start, µs after the run's start.
    pub at_us: u64,
    /// How long it took, µs.
    pub took_us: u64,
    /// Start of the load, µs after the run's start: zero of the times in its series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_at_us: Option<u64>,
    /// Whether it counts.
    pub valid: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<Invalid>,
    /// The TCP (or QUIC) load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Tcp>,
    /// The UDP load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp: Option<Udp>,
    /// The latency probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<Probes>,
    /// The steps of a sweep, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<SweepStep>,
    /// What the path carries at most, bit/s of IP packets, by the sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bps: Option<f64>,
    /// What a search for the path MTU found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pmtu: Option<Pmtu>,
    /// What became of datagrams by size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizeStep>,
    /// The requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<Short>,
    /// What the near host's counters say of this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<crate::evidence::Evidence>,
    /// What the far host's counters say of this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far: Option<crate::evidence::Evidence>,
}

impl Sample {
    /// A sample in which nothing was measured yet, begun `at_us` µs after the run's start.
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
            tcp: None,
            udp: None,
            probes: None,
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

/// Why a sample does not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum Invalid {
    /// The kernel used another congestion control.
    CongestionReplaced {
        /// Asked for.
        asked: String,
        /// What the socket used.
        used: String,
    },
    /// The sending host had no processor time left, so that it, not the path, set the pace.
    SenderProcessor {
        /// Busy share of the busiest processor.
        share: f64,
    },
    /// The receiving host had no processor time left.
    ReceiverProcessor {
        /// Busy share of the busiest processor.
        share: f64,
    },
    /// A clock was set while measuring.
    ClockStep {
        /// By how much, µs.
        by_us: i64,
    },
    /// The route to the other end changed.
    RouteChanged {
        /// Before.
        before: String,
        /// After.
        after: String,
    },
    /// The tunnel went from a direct connection to a relay or back.
    RelayChanged {
        /// Before.
        before: String,
        /// After.
        after: String,
    },
    /// It did not last long enough to count.
    CutShort,
    /// Something failed.
    Failed {
        /// What and why.
        why: Text,
    },
}

impl Invalid {
    /// Something failed, in words of its own.
    pub fn failed(why: Text) -> Self {
        Self::Failed { why }
    }

    /// The reason in words.
    pub fn text(&self) -> Text {
        let percent = |share: &f64| Value::Share((share * 100.0).round() / 100.0);
        match self {
            Self::CongestionReplaced { asked, used } => {
                text!(
                    "asked for {asked}, the socket used {used}",
                    asked = asked,
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
                "a clock was set by {by} in between",
                by = Value::Us(*by_us as f64)
            ),
            Self::RouteChanged { before, after } => text!(
                "the route changed from {before} to {after}",
                before = before,
                after = after
            ),
            Self::RelayChanged { before, after } => text!(
                "the tunnel went from {before} to {after}",
                before = before,
                after = after
            ),
            Self::CutShort => text!("it was cut short"),
            Self::Failed { why } => why.clone(),
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for Invalid {}
