//! All charts of a page, as the script gets them.

use serde::Serialize;

use super::{buckets::Column, chart::Chart};

/// All charts of a page, and the data of the timelines.
#[derive(Debug, Default)]
pub(super) struct Charts {
    pub(super) drawn: Vec<Chart>,
    pub(super) timelines: Vec<Timeline>,
    /// Number of the step whose timeline is drawn at first.
    pub(super) start: Option<u32>,
}

/// One step. Its columns have a value for each bucket of `dt_ms`; where nothing was seen, null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Timeline {
    /// Number of the sample.
    pub(super) n: u32,
    /// What is kept longest where room is short: steps that stand for their like, then the others
    /// in the order they were run.
    #[serde(skip)]
    pub(super) rank: (bool, std::cmp::Reverse<u32>),
    /// Whether it stands for its like.
    pub(super) middle: bool,
    /// Of which group of like steps.
    pub(super) group: String,
    /// How it is named in its group.
    pub(super) name: String,
    /// First bucket, ms after the load started.
    pub(super) from_ms: f64,
    /// Length of a bucket, ms.
    pub(super) dt_ms: f64,
    /// The part that counts, ms after the load started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) window_ms: Option<[f64; 2]>,
    /// What the receivers got, Mbit/s: the mean of the bucket.
    pub(super) goodput: Column,
    /// Congestion windows of all flows together, at the end of the bucket.
    pub(super) cwnd: Column,
    /// In segments, or (QUIC) in kB.
    pub(super) cwnd_kb: bool,
    /// Smoothed round trip of the flows, mean, ms.
    pub(super) rtt: Column,
    /// How far that is above the smallest round trip the senders saw, ms: what waits in queues.
    pub(super) queue: Column,
    /// Fastest probe sent in the bucket, ms.
    pub(super) probe_low: Column,
    /// Slowest probe sent in the bucket, ms.
    pub(super) probe_high: Column,
    /// Segments sent again in the bucket.
    pub(super) retransmitted: Column,
}
