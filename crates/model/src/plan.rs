//! What to measure between two ends: the Plan.

use serde::{Deserialize, Serialize};

pub use crate::net::LoadDirection;
use crate::{
    net::{Direction, IpVersion, Layer},
    units::Seed,
};

/// Version of [`Plan`].
pub const PLAN_SCHEMA: u32 = 1;

/// Which ends, layers, factors, repeats and durations to measure.
///
/// Own plans are TOML files of this shape. Unknown keys are errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`PLAN_SCHEMA`] of the writer.
    #[serde(default = "schema")]
    pub schema: u32,
    /// Its name: `quick`, `default`, `thorough`, or one's own.
    #[serde(default = "own")]
    pub name: String,
    /// What makes the order of the steps; chosen when measuring if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// Layers to measure; empty = those there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// Address families to measure; empty = those that reach the far end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<IpVersion>,
    /// Interval of the latency probes beside every load, ms; absent = no probes.
    #[serde(default = "ten", skip_serializing_if = "Option::is_none")]
    pub probe_ms: Option<f64>,
    /// Whether both hosts sample where their processors spend their time under load, as far as they
    /// may.
    #[serde(default = "yes")]
    pub hotspots: bool,
    /// How often the repeated steps are run.
    #[serde(default)]
    pub repeats: Repeats,
    /// What the whole may cost.
    #[serde(default)]
    pub budget: Budget,
    /// The steps. Those that are not repeated run first, in this order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

/// How often the repeated steps are run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeats {
    /// At least.
    pub min: u32,
    /// At most.
    pub max: u32,
    /// Stop between the two when the interval of every goodput is narrower than this share of its
    /// centre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
}

impl Default for Repeats {
    fn default() -> Self {
        Self {
            min: 5,
            max: 10,
            width: Some(0.05),
        }
    }
}

/// What a whole run may cost. A step that would not fit is left out, and the run says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Payload bytes in both directions together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Seconds from start to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
}

/// One thing to measure, on every layer and family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What.
    #[serde(flatten)]
    pub measurement: Measurement,
    /// How long it lasts, s; for steps that end by count, at most.
    pub duration_s: f64,
    /// Whether it is repeated in the blocks; otherwise it is run once at the start.
    #[serde(default)]
    pub repeat: bool,
}

/// What a step measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Measurement {
    /// Latency without load.
    Idle,
    /// UDP at rising rates, to the knee where more offered is not more received.
    UdpSweep {
        /// Direction of the data.
        direction: Direction,
        /// The first rate, bit/s of UDP payload.
        from_bps: u64,
        /// Never more than this, bit/s of UDP payload.
        to_bps: u64,
    },
    /// UDP at one rate.
    Udp {
        /// Direction of the data.
        direction: Direction,
        /// Bit/s of UDP payload.
        rate_bps: u64,
        /// Payload bytes of a datagram; absent = the largest that is not fragmented.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payload: Option<u32>,
    },
    /// TCP with always something to send.
    Tcp {
        /// Direction of the data.
        direction: LoadDirection,
        /// Connections at once (in each direction).
        flows: u32,
        /// Congestion controls to try in turn, by the kernel's names; empty = each that can be had
        /// on the sending side.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cc: Vec<String>,
        /// Time at the start that is not counted, s.
        #[serde(default = "two")]
        warmup_s: f64,
    },
    /// The largest packet the path carries, with ICMP's help and without.
    Pmtu,
    /// Datagrams of several sizes at a low rate: what is lost by size.
    Sizes,
    /// Requests one after the other, each on a connection of its own.
    Short {
        /// Bytes of the answer.
        bytes: u64,
    },
    /// HTTP/1.1 requests on one kept connection.
    Http {
        /// Bytes of the answer.
        bytes: u64,
    },
    /// A QUIC stream with always something to send.
    Quic {
        /// Direction of the data.
        direction: Direction,
        /// Time at the start that is not counted, s.
        #[serde(default = "two")]
        warmup_s: f64,
    },
}

fn schema() -> u32 {
    PLAN_SCHEMA
}

fn own() -> String {
    "own".to_owned()
}

fn yes() -> bool {
    true
}

// serde wants a function that gives what the field holds.
#[allow(clippy::unnecessary_wraps)]
fn ten() -> Option<f64> {
    Some(10.0)
}

fn two() -> f64 {
    2.0
}
