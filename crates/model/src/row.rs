//! Flat results: one row for each cell, direction and group of flows.

mod figure;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    net::{Direction, Layer},
    text::Text,
    units::Seed,
};

pub use figure::{RowFigure, UnknownRowFigure};

/// Version of [`Row`].
pub const ROW_SCHEMA: u32 = 1;

/// One row of results. A value that was not measured is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// [`ROW_SCHEMA`] of the writer.
    pub schema: u32,
    /// Name of the spec.
    pub name: String,
    /// The matrix values of the cell.
    pub factors: BTreeMap<String, serde_json::Value>,
    /// Seed of the cell.
    pub seed: Seed,
    /// Layer of the traffic.
    pub layer: Layer,
    /// Direction of the data.
    pub direction: Direction,
    /// Index of the cross traffic group; absent = the measured traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<usize>,
    /// Flows in the group.
    pub flows: usize,
    /// Total goodput of all flows during the measured time, Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_mbps: Option<f64>,
    /// Goodput of the slowest and of the fastest flow, Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_range_mbps: Option<[f64; 2]>,
    /// Retransmitted segments during the measured time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Sent segments during the measured time, including retransmissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<u64>,
    /// Share of the sent bytes that were retransmitted during the measured time; the figure of that
    /// name. Absent in older rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<f64>,
    /// Requested congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc_requested: Option<String>,
    /// Congestion control of the sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc_used: Option<String>,
    /// The sender's smoothed RTT, median of the flows' medians over the samples, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_rtt_p50_ms: Option<f64>,
    /// Congestion window, median of the flows' medians over the samples, segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_p50: Option<f64>,
    /// Share of the busy time of all flows that was limited by the receive window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwnd_limited: Option<f64>,
    /// Share of the busy time of all flows that was limited by the send buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited: Option<f64>,
    /// RTT of the probes before the load, median, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_idle_p50_ms: Option<f64>,
    /// Answered probes under load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_n: Option<u64>,
    /// RTT of the probes under load, median, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_p50_ms: Option<f64>,
    /// RTT of the probes under load, 99th percentile, ms; absent below 100 answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_p99_ms: Option<f64>,
    /// Share of unanswered probes under load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_lost: Option<f64>,
    /// Delay of the bottleneck's queue, median over the samples, ms. This is truth that no host can
    /// see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_p50_ms: Option<f64>,
    /// The same, 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_p99_ms: Option<f64>,
    /// Packets dropped by the bottleneck's queue or policer during the whole cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_drops: Option<u64>,
    /// Packets marked by the bottleneck's queue during the whole cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_marks: Option<u64>,
    /// Share of packets dropped by the loss stage during the whole cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub true_loss: Option<f64>,
    /// Share of lost datagrams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_lost: Option<f64>,
    /// Number of datagrams received after one with a higher number. `udp_reordered` in older rows;
    /// the figure of that name is a share.
    #[serde(alias = "udp_reordered", skip_serializing_if = "Option::is_none")]
    pub udp_reordered_n: Option<u64>,
    /// Number of duplicate datagrams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_duplicates: Option<u64>,
    /// Jitter by RFC 3550 at the end, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_jitter_ms: Option<f64>,
    /// Completed exchanges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_n: Option<u64>,
    /// Completion time of the exchanges, median, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_p50_ms: Option<f64>,
    /// Completion time of the exchanges, 99th percentile, ms; absent below 100 of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_p99_ms: Option<f64>,
    /// True if the row is valid.
    pub valid: bool,
    /// Reasons why it is not.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub invalid_because: Vec<Text>,
    /// Release of the kernel.
    pub kernel: String,
    /// Processor time of the cell, s; of a cached cell, that of its original run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Virtual time of the cell, s.
    pub virtual_s: f64,
    /// Wall time of the cell, s; of a cached cell, that of its original run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// True if the result came from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<bool>,
    /// BLAKE3 over the complete result of the cell.
    pub digest: String,
}

impl Row {
    /// The row without fields that depend on the machine and the time: the cost of the cell, and
    /// whether it came from the cache. The rest is the same for a spec, a seed and an image, byte
    /// for byte.
    #[must_use]
    pub fn without_cost(self) -> Self {
        Self {
            cpu_s: None,
            wall_s: None,
            cached: None,
            ..self
        }
    }
}

/// The rows of one spec as a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// [`ROW_SCHEMA`] of the writer.
    pub schema: u32,
    /// Name of the spec.
    pub name: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// Error of reading rows.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// Not rows.
    #[error("not rows of the lab: {0}")]
    Format(#[from] serde_json::Error),
    /// No rows.
    #[error("there are no rows in it")]
    Empty,
    /// Written by a later version.
    #[error("the rows have schema {0}, and this program knows up to {ROW_SCHEMA}: update pathtwin")]
    Newer(u32),
}

impl Rows {
    /// Reads rows in the formats of `lab run`: one document, or one row per line.
    ///
    /// # Errors
    /// The text is not rows, contains none, or has a schema newer than this program.
    pub fn parse(text: &[u8]) -> Result<Self, RowsError> {
        let mut rows: Vec<Row> = Vec::new();
        for value in serde_json::Deserializer::from_slice(text).into_iter::<serde_json::Value>() {
            let value = value?;
            match value["schema"].as_u64() {
                Some(schema) if schema > u64::from(ROW_SCHEMA) => {
                    return Err(RowsError::Newer(u32::try_from(schema).unwrap_or(u32::MAX)));
                }
                _ => {}
            }
            if value.get("rows").is_some() {
                let document: Self = serde_json::from_value(value)?;
                rows.extend(document.rows);
            } else {
                rows.push(serde_json::from_value(value)?);
            }
        }
        let first = rows.first().ok_or(RowsError::Empty)?;
        Ok(Self {
            schema: ROW_SCHEMA,
            name: first.name.clone(),
            rows,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// `udp_reordered` is a share in a Run and was a count in rows.
    #[test]
    fn a_row_with_the_old_name_of_the_count_is_read() {
        let text = r#"{"schema": 1, "name": "n", "factors": {}, "seed": 1, "layer": "underlay",
            "direction": "down", "flows": 1, "udp_reordered": 7, "valid": true, "kernel": "7.2",
            "virtual_s": 1.0, "digest": ""}"#;
        let rows = Rows::parse(text.as_bytes()).unwrap();
        assert_eq!(rows.rows[0].udp_reordered_n, Some(7));
        let written = serde_json::to_value(&rows.rows[0]).unwrap();
        assert_eq!(written["udp_reordered_n"], 7);
        assert_eq!(written.get("udp_reordered"), None);
    }
}
