//! The Plan: what to measure between two ends.

use serde::{Deserialize, Serialize};

pub use crate::net::LoadDirection;
use crate::{
    net::{Direction, IpVersion, Layer},
    units::Seed,
};

/// Version of [`Plan`].
pub const PLAN_SCHEMA: u32 = 1;

/// In a list of congestion controls: the sending host's default for sockets that choose none. Only
/// then does a change of the host's settings affect the measurement.
pub const OF_HOST: &str = "default";

/// A built-in plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preset {
    /// About a minute.
    Quick,
    /// Default plan.
    Default,
    /// More loads, and repeats until the intervals are narrow.
    Thorough,
}

/// Unknown name of a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no plan that comes with the program is called {0}")]
pub struct UnknownPreset(pub String);

impl Preset {
    /// All of them, the shortest first.
    pub const ALL: [Self; 3] = [Self::Quick, Self::Default, Self::Thorough];

    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Default => "default",
            Self::Thorough => "thorough",
        }
    }

    /// Its option of `pathtwin measure`; absent = it needs none.
    pub const fn option(self) -> Option<&'static str> {
        match self {
            Self::Quick => Some("--quick"),
            Self::Default => None,
            Self::Thorough => Some("--thorough"),
        }
    }

    /// The next longer one.
    pub fn longer(self) -> Option<Self> {
        Self::ALL.into_iter().find(|plan| *plan > self)
    }
}

impl std::str::FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        let found = Self::ALL.into_iter().find(|plan| plan.name() == name);
        found.ok_or_else(|| UnknownPreset(name.to_owned()))
    }
}

/// Layers, steps, repeats and budget of a measurement.
///
/// A custom plan is a TOML file of this form. Unknown keys are errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`PLAN_SCHEMA`] of the writer.
    #[serde(default = "schema")]
    pub schema: u32,
    /// Its name: `quick`, `default`, `thorough`, or that of a custom plan.
    #[serde(default = "own")]
    pub name: String,
    /// Seed of the random order of the steps; chosen at the start if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// Layers to measure; empty = all that exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// Address families to measure; empty = all that reach the far end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<IpVersion>,
    /// Interval of the latency probes beside every load, ms; absent = no probes.
    #[serde(default = "ten", skip_serializing_if = "Option::is_none")]
    pub probe_ms: Option<f64>,
    /// True if both hosts profile their processors under load, if permitted.
    #[serde(default = "yes")]
    pub hotspots: bool,
    /// True if loads last longer than in their steps where the path needs it: past slow start, and
    /// tens of round trips.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adapt: bool,
    /// Number of repeats.
    #[serde(default)]
    pub repeats: Repeats,
    /// Limits of the whole run.
    #[serde(default)]
    pub budget: Budget,
    /// The steps. Those that are not repeated run first, in this order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

impl Plan {
    /// These steps, and otherwise the defaults.
    pub fn of(name: &str, steps: Vec<Step>) -> Self {
        Self {
            schema: schema(),
            name: name.to_owned(),
            seed: None,
            layers: Vec::new(),
            families: Vec::new(),
            probe_ms: ten(),
            hotspots: yes(),
            adapt: false,
            repeats: Repeats::default(),
            budget: Budget::default(),
            steps,
        }
    }
}

/// Number of repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeats {
    /// At least.
    pub min: u32,
    /// At most.
    pub max: u32,
    /// Stop early when the interval of every goodput is narrower than this share of its centre.
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

/// Limits of a whole run. A step that would exceed them is skipped, with a note in the run.
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

impl Budget {
    /// Returns these limits, replaced by those that the other one sets.
    #[must_use]
    pub fn replaced_by(self, other: Self) -> Self {
        Self {
            bytes: other.bytes.or(self.bytes),
            time_s: other.time_s.or(self.time_s),
        }
    }
}

/// One measurement, run on every layer and family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Measurement of the step.
    #[serde(flatten)]
    pub measurement: Measurement,
    /// Duration, s; the maximum for steps that end by count.
    pub duration_s: f64,
    /// True if it is repeated in every block; otherwise it runs once, at the start.
    #[serde(default)]
    pub repeat: bool,
}

/// Measurement of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Measurement {
    /// Latency without load.
    Idle,
    /// UDP at increasing rates, up to the knee where the received rate stops growing.
    UdpSweep {
        /// Direction of the data.
        direction: Direction,
        /// The first rate, bit/s of UDP payload.
        from_bps: u64,
        /// The highest rate, bit/s of UDP payload.
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
    /// Bulk TCP.
    Tcp {
        /// Direction of the data.
        direction: LoadDirection,
        /// Parallel connections, in each direction.
        flows: u32,
        /// Congestion controls to test, by the kernel's names; empty = all available on the sending
        /// side. [`OF_HOST`] leaves the choice to the host.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cc: Vec<String>,
        /// Warm-up excluded from the results, s.
        #[serde(default = "two")]
        warmup_s: f64,
    },
    /// Path MTU, with and without ICMP.
    Pmtu,
    /// Loss by packet size: datagrams of several sizes at a low rate.
    Sizes,
    /// Consecutive requests, each on its own connection.
    Short {
        /// Response size, bytes.
        bytes: u64,
    },
    /// HTTP/1.1 requests on one keep-alive connection.
    Http {
        /// Response size, bytes.
        bytes: u64,
    },
    /// Bulk transfer on one QUIC stream.
    Quic {
        /// Direction of the data.
        direction: Direction,
        /// Warm-up excluded from the results, s.
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

// serde needs a function for the default.
#[allow(clippy::unnecessary_wraps)]
fn ten() -> Option<f64> {
    Some(10.0)
}

fn two() -> f64 {
    2.0
}
