//! Bytes and times of a connection while it was observed.

/// Differences between the first and the last sample.
pub(super) struct Moved {
    pub(super) span_us: u64,
    pub(super) acked: Option<u64>,
    pub(super) received: Option<u64>,
    pub(super) busy_us: Option<u64>,
}
