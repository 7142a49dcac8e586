//! The flat form of a result: one row for each cell, direction and group of flows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    net::{Direction, Layer},
    units::Seed,
};

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
    /// Layer that was crossed.
    pub layer: Layer,
    /// Direction of the data.
    pub direction: Direction,
    /// Number of the competing group; absent = the measured traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<usize>,
    /// Flows in the group.
    pub flows: usize,
    /// Payload that reached the receivers while measuring, all flows together, Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_mbps: Option<f64>,
    /// Goodput of the slowest and of the fastest flow, Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_range_mbps: Option<[f64; 2]>,
    /// Segments retransmitted while measuring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Segments sent while measuring, retransmissions included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<u64>,
    /// Congestion control that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc_requested: Option<String>,
    /// Congestion control the sockets had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc_used: Option<String>,
    /// The sender's smoothed RTT, median of the flows' medians over the samples, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_rtt_p50_ms: Option<f64>,
    /// Congestion window, median of the flows' medians over the samples, segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_p50: Option<f64>,
    /// Share of the busy time of all flows together in which the receive window limited the
    /// senders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwnd_limited: Option<f64>,
    /// Share of the busy time of all flows together in which the send buffer limited the senders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited: Option<f64>,
    /// Round trip of the probes before the load, median, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_idle_p50_ms: Option<f64>,
    /// Answered probes under load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_n: Option<u64>,
    /// Round trip of the probes under load, median, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_p50_ms: Option<f64>,
    /// Round trip of the probes under load, 99th percentile, ms; absent below 100 answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_p99_ms: Option<f64>,
    /// Share of the probes under load that got no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_lost: Option<f64>,
    /// Time a packet would wait in the bottleneck's queue, median over the samples, ms. Truth that
    /// no host could see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_p50_ms: Option<f64>,
    /// The same, 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_p99_ms: Option<f64>,
    /// Packets the bottleneck's queue (or policer) dropped in the whole cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_drops: Option<u64>,
    /// Packets the bottleneck's queue marked in the whole cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_marks: Option<u64>,
    /// Share of the packets after the bottleneck that were lost on purpose, in the whole cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub true_loss: Option<f64>,
    /// Share of the datagrams that did not arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_lost: Option<f64>,
    /// Datagrams that came after one with a higher number: a count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_reordered: Option<u64>,
    /// Datagrams that came twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_duplicates: Option<u64>,
    /// Jitter by RFC 3550 at the end, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_jitter_ms: Option<f64>,
    /// Finished exchanges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_n: Option<u64>,
    /// Completion time of the exchanges, median, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_p50_ms: Option<f64>,
    /// Completion time of the exchanges, 99th percentile, ms; absent below 100 of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_p99_ms: Option<f64>,
    /// Whether the row may be counted.
    pub valid: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub invalid_because: Vec<String>,
    /// Release of the kernel.
    pub kernel: String,
    /// Processor time the cell took, s. From the cache: what it took then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Virtual time of the cell, s.
    pub virtual_s: f64,
    /// Real time the cell took, s. From the cache: what it took then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// Whether the result came from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<bool>,
    /// BLAKE3 over everything the cell gave back.
    pub digest: String,
}

impl Row {
    /// The row without what depends on the machine and the hour: what the cell cost, and whether
    /// it came from the cache. What is left is the same for a spec, a seed and an image, byte for
    /// byte.
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

/// Why rows cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// Not rows at all.
    #[error("not rows of the lab: {0}")]
    Format(#[from] serde_json::Error),
    /// Not one row in it.
    #[error("there are no rows in it")]
    Empty,
    /// Made by a later version.
    #[error("the rows have schema {0}, and this program knows up to {ROW_SCHEMA}: update pathtwin")]
    Newer(u32),
}

impl Rows {
    /// Reads rows as `lab run` writes them: one document, or one row a line.
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
