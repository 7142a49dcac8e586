//! What several samples say together.

use serde::{Deserialize, Serialize};

use super::Key;

/// A kind of figure: what it is called, in what unit, and which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name, with the unit at the end.
    pub name: &'static str,
    /// Which way is better.
    pub better: Better,
    /// What it says.
    pub text: &'static str,
}

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither by itself.
    Neither,
}

const fn kind(name: &'static str, better: Better, text: &'static str) -> Kind {
    Kind { name, better, text }
}

/// All kinds of figures, in the order they are shown.
pub const FIGURES: &[Kind] = &[
    kind("goodput_bps", Better::Higher, "payload that arrived"),
    kind(
        "capacity_bps",
        Better::Higher,
        "what the path carries at most, IP packets",
    ),
    kind(
        "udp_lost",
        Better::Lower,
        "share of the datagrams that did not arrive",
    ),
    kind(
        "udp_reordered",
        Better::Lower,
        "share of the datagrams overtaken by a later one",
    ),
    kind("udp_jitter_us", Better::Lower, "jitter of RFC 3550"),
    kind(
        "retransmitted",
        Better::Lower,
        "share of the sent bytes that were sent again",
    ),
    kind(
        "rtt_p50_us",
        Better::Lower,
        "round trip of the probes, median",
    ),
    kind(
        "rtt_p95_us",
        Better::Lower,
        "round trip of the probes, 95th percentile",
    ),
    kind(
        "rtt_p99_us",
        Better::Lower,
        "round trip of the probes, 99th percentile",
    ),
    kind(
        "probe_lost",
        Better::Lower,
        "share of the probes without an answer",
    ),
    kind(
        "tcp_rtt_p50_us",
        Better::Lower,
        "the sender's smoothed RTT, median",
    ),
    kind(
        "complete_p50_us",
        Better::Lower,
        "completion time of a request, median",
    ),
    kind(
        "complete_p95_us",
        Better::Lower,
        "completion time of a request, 95th percentile",
    ),
    kind(
        "pmtu_bytes",
        Better::Higher,
        "largest IP packet that arrives whole",
    ),
    kind(
        "near_cpu_s_per_gb",
        Better::Lower,
        "processor time of the near host a gigabyte",
    ),
    kind(
        "far_cpu_s_per_gb",
        Better::Lower,
        "processor time of the far host a gigabyte",
    ),
];

/// A figure over the valid samples of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What was run.
    pub key: Key,
    /// Name of its kind, one of [`FIGURES`].
    pub kind: String,
    /// Its values.
    #[serde(flatten)]
    pub spread: Spread,
    /// Change from the first to the last sample by the fitted line, as a share of the centre; absent
    /// unless it is more than chance explains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
}

/// Centre and spread of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many.
    pub n: usize,
    /// Median.
    pub median: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation; absent below two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    /// 95th percentile; absent where the values are too few to have one (below 20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<f64>,
    /// 99th percentile; absent below 100 values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// Lower end of the 95 % interval of the centre; absent where the values are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the 95 % interval of the centre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A figure of one key over the same figure of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Above the line.
    pub of: Key,
    /// Below the line.
    pub to: Key,
    /// Kind of the figure.
    pub kind: String,
    /// The ratio.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent where the values are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Values above the line.
    pub n_of: usize,
    /// Values below the line.
    pub n_to: usize,
}
