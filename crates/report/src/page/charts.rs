//! Data of all charts of a page, as read by the script.

use analysis::buckets::Column;
use serde::Serialize;

use super::chart::Chart;

/// All charts of a page, and the data of the timelines.
#[derive(Debug, Default)]
pub(super) struct Charts {
    pub(super) drawn: Vec<Chart>,
    pub(super) timelines: Vec<Timeline>,
    /// Number of the step whose timeline is drawn initially.
    pub(super) start: Option<u32>,
}

/// A step. Its columns have a value for each bucket of `dt_ms`, null without samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Timeline {
    /// Number of the sample.
    pub(super) n: u32,
    /// Priority if space is limited: representative steps first, then the others in order of
    /// execution.
    #[serde(skip)]
    pub(super) rank: (bool, std::cmp::Reverse<u32>),
    /// True if it is representative of its repeats.
    pub(super) middle: bool,
    /// Group of repeats it belongs to.
    pub(super) group: String,
    /// Name within the group.
    pub(super) name: String,
    /// First bucket, ms after the load started.
    pub(super) from_ms: f64,
    /// Length of a bucket, ms.
    pub(super) dt_ms: f64,
    /// The measured part, ms after the load started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) window_ms: Option<[f64; 2]>,
    /// Goodput, mean of the bucket, Mbit/s.
    pub(super) goodput: Column,
    /// Sum of the congestion windows, at the end of the bucket.
    pub(super) cwnd: Column,
    /// In segments, or (QUIC) in kB.
    pub(super) cwnd_kb: bool,
    /// Smoothed RTT, mean of the flows, ms.
    pub(super) rtt: Column,
    /// Its increase over the senders' minimum RTT, ms: queueing delay.
    pub(super) queue: Column,
    /// Fastest probe sent in the bucket, ms.
    pub(super) probe_low: Column,
    /// Slowest probe sent in the bucket, ms.
    pub(super) probe_high: Column,
    /// Segments retransmitted in the bucket.
    pub(super) retransmitted: Column,
}
