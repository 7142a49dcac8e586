//! Schedule of probes.

use std::time::Duration;

use sys::clock::Instant;

/// Send schedule of probes.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// The first probe.
    pub first: Instant,
    /// From one to the next.
    pub every: Duration,
    /// No probe from here on; absent = until finished.
    pub end: Option<Instant>,
    /// Source of their times.
    pub timing: Timing,
}

/// Source of the times of probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// The kernel, which stamps datagrams as they leave and arrive.
    Kernel,
    /// The schedule, which is exact to the nanosecond in virtual time: nothing reads the clock, and
    /// many replies are read in one call.
    Virtual,
}
