//! One step of a Run over time, beside the same step on its twin.

use serde::{Deserialize, Serialize};

use crate::run::Key;

/// Maximum number of points of a [`Course`].
pub const COURSE_POINTS: usize = 120;

/// One TCP step over time, in the Run and on the best path, in the same buckets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwinSeries {
    /// The step.
    pub key: Key,
    /// Start of the first bucket, µs after the load started.
    pub from_us: i64,
    /// Length of a bucket, µs.
    pub dt_us: i64,
    /// In the Run: the repeat with the median goodput.
    pub measured: Course,
    /// In the lab, on the best path: the first seed.
    pub twin: Course,
}

/// A step over time: each column has one value for each bucket, absent where nothing was seen. A
/// column without any value is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Goodput, mean of the bucket, bit/s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goodput_bps: Vec<Option<f64>>,
    /// RTT of the probes sent in the bucket, median, µs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probe_rtt_us: Vec<Option<f64>>,
}
