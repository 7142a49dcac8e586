//! Outcomes of a trial.

use serde::{Deserialize, Serialize};

use super::figure::AdviceFigure;
use crate::net::Direction;

/// Outcome of one flow in one direction: medians over members and seeds.
///
/// Early documents of version 1 have the median in place of a 99th percentile that was not
/// measured, and 0 in place of unknown retransmissions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Direction of the data.
    pub direction: Direction,
    /// Goodput, bit/s.
    pub goodput_bps: f64,
    /// Round trip of the probes beside it, median, µs.
    pub rtt_p50_us: f64,
    /// The same, 99th percentile; absent below 100 answered probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_p99_us: Option<f64>,
    /// Share of the sent bytes that were retransmitted, 0 to 1; absent if the sender did not
    /// report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<f64>,
}

impl Outcome {
    /// Returns a figure; absent if it was not measured.
    pub fn value(&self, figure: AdviceFigure) -> Option<f64> {
        match figure {
            AdviceFigure::Goodput => Some(self.goodput_bps),
            AdviceFigure::LoadedP50 => Some(self.rtt_p50_us),
            AdviceFigure::LoadedP99 => self.rtt_p99_us,
            AdviceFigure::Retransmitted => self.retransmitted,
        }
    }
}
