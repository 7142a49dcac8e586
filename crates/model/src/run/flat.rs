//! Flat rows of a run, one per sample, for jq and pandas.

use serde::{Deserialize, Serialize};

use super::StepKind;
use crate::net::{Direction, IpVersion, Layer};

/// One row. A value that was not measured is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleRow {
    /// Version of the row.
    pub schema: u32,
    /// Name of the run.
    pub run: String,
    /// Name of the plan.
    pub plan: String,
    /// Number of the sample.
    pub number: u32,
    /// Kind of step.
    pub step: StepKind,
    /// Layer of the traffic.
    pub layer: Layer,
    /// Address family.
    pub family: IpVersion,
    /// Direction of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// True if the load ran in both directions at once.
    #[serde(rename = "opposed", alias = "bidirectional")]
    pub bidirectional: bool,
    /// Parallel connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u32>,
    /// Number of the block.
    pub block: u32,
    /// Start, s after the run's start.
    pub at_s: f64,
    /// Goodput, Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_mbps: Option<f64>,
    /// Segments retransmitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Requested congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc_requested: Option<String>,
    /// Congestion control in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc_used: Option<String>,
    /// The sender's smoothed RTT, median of the flows' medians, ms; the figure `tcp_rtt_p50_us`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_rtt_p50_ms: Option<f64>,
    /// RTT of the probes, median, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_p50_ms: Option<f64>,
    /// RTT of the probes, 99th percentile, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_p99_ms: Option<f64>,
    /// Share of unanswered probes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_lost: Option<f64>,
    /// Share of the busy time of all flows that was limited by the receive window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwnd_limited: Option<f64>,
    /// Share of the busy time of all flows that was limited by the send buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited: Option<f64>,
    /// Capacity of the path, Mbit/s of IP packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_mbps: Option<f64>,
    /// Share of lost datagrams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_lost: Option<f64>,
    /// Number of datagrams received after one with a higher number. `udp_reordered` in older rows;
    /// the figure of that name is a share.
    #[serde(alias = "udp_reordered", skip_serializing_if = "Option::is_none")]
    pub udp_reordered_n: Option<u64>,
    /// Jitter by RFC 3550, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_jitter_ms: Option<f64>,
    /// Path MTU of both directions, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmtu_bytes: Option<u32>,
    /// Completion time of the requests, median, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete_p50_ms: Option<f64>,
    /// True if the sample is valid.
    pub valid: bool,
    /// Reasons why it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid_because: Vec<String>,
}

impl SampleRow {
    /// Names of all fields in order, as the columns of a table.
    pub const COLUMNS: [&str; 30] = [
        "schema",
        "run",
        "plan",
        "number",
        "step",
        "layer",
        "family",
        "direction",
        "opposed",
        "flows",
        "block",
        "at_s",
        "goodput_mbps",
        "retransmits",
        "cc_requested",
        "cc_used",
        "tcp_rtt_p50_ms",
        "probe_p50_ms",
        "probe_p99_ms",
        "probe_lost",
        "rwnd_limited",
        "sndbuf_limited",
        "capacity_mbps",
        "udp_lost",
        "udp_reordered_n",
        "udp_jitter_ms",
        "pmtu_bytes",
        "complete_p50_ms",
        "valid",
        "invalid_because",
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All fields in their order, as serde writes them.
    #[test]
    fn the_columns_are_the_fields() {
        let row = SampleRow {
            schema: 1,
            run: String::new(),
            plan: String::new(),
            number: 1,
            step: StepKind::Tcp,
            layer: Layer::Tunnel,
            family: IpVersion::V4,
            direction: Some(Direction::Up),
            bidirectional: true,
            flows: Some(1),
            block: 1,
            at_s: 1.0,
            goodput_mbps: Some(1.0),
            retransmits: Some(1),
            cc_requested: Some(String::new()),
            cc_used: Some(String::new()),
            tcp_rtt_p50_ms: Some(1.0),
            probe_p50_ms: Some(1.0),
            probe_p99_ms: Some(1.0),
            probe_lost: Some(1.0),
            rwnd_limited: Some(1.0),
            sndbuf_limited: Some(1.0),
            capacity_mbps: Some(1.0),
            udp_lost: Some(1.0),
            udp_reordered_n: Some(1),
            udp_jitter_ms: Some(1.0),
            pmtu_bytes: Some(1),
            complete_p50_ms: Some(1.0),
            valid: true,
            invalid_because: vec![String::new()],
        };
        let text = serde_json::to_string(&row).unwrap();
        let names: Vec<&str> = text
            .split(['{', ','])
            .filter_map(|part| part.strip_prefix('"')?.split_once("\":"))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, SampleRow::COLUMNS);
    }
}
