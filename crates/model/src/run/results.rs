//! What the kinds of steps measure: parts of a sample.

use serde::{Deserialize, Serialize};

use super::Series;
use crate::net::Direction;

/// A TCP load. Rates are over the time after the warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tcp {
    /// Congestion control of the senders' sockets, as the kernel says; of QUIC that of the library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc_used: Option<String>,
    /// Time that counts, µs after the load started: from, to.
    pub window_us: [i64; 2],
    /// Payload that reached the receivers, bit/s, all flows together.
    pub goodput_bps: f64,
    /// Payload that reached the receivers in all.
    pub bytes: u64,
    /// The flows.
    pub flows: Vec<FlowResult>,
}

/// One connection of a TCP load. What the kernel did not say is absent. Sums and shares are over
/// the time that counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowResult {
    /// Payload that reached the receiver, bit/s.
    pub goodput_bps: f64,
    /// Segments sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Share of the sent bytes that were sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<f64>,
    /// Data segments sent, those sent again included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<u64>,
    /// Segments the receiver reported twice (DSACK): sent again without need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsack_dups: Option<u64>,
    /// Times the sender saw reordering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reord_seen: Option<u64>,
    /// Segments acknowledged with a congestion mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_ce: Option<u64>,
    /// Retransmission timeouts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u64>,
    /// Share of the busy time in which the receive window held the sender back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rwnd_limited: Option<f64>,
    /// Share of the busy time in which the send buffer held it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited: Option<f64>,
    /// Busy share of the time: there was something to send or unacknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// Share of the looks at which the sender was limited by its application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_limited: Option<f64>,
    /// Smallest round trip the sender saw, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rtt_us: Option<f64>,
    /// Smoothed round trip, median of the looks, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_p50_us: Option<f64>,
    /// Smoothed round trip, 95th percentile of the looks, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_p95_us: Option<f64>,
    /// Congestion window, median of the looks, segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwnd_p50: Option<f64>,
    /// Window the receiver offers, median of the looks, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snd_wnd_p50: Option<f64>,
    /// Rate of delivery by the sender's estimate, median of the looks, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_rate_p50_bps: Option<f64>,
    /// Longest segment sent, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    /// Path MTU in the sender's eyes, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pmtu: Option<u32>,
    /// Options in use, the kernel's set: 1 timestamps, 2 SACK, 4 window scale, 8 ECN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<u32>,
    /// Every look at the sender's `TCP_INFO`, all fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Every look at the receiver: `bytes_received` and what else its kernel says; `bytes_read`, by
    /// its program, where that says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<Series>,
}

/// A UDP load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Udp {
    /// Payload bytes of a datagram.
    pub payload: u32,
    /// Datagrams that were sent.
    pub sent: u64,
    /// Datagrams that arrived, each counted once.
    pub received: u64,
    /// Share that did not arrive.
    pub lost: f64,
    /// Lower end of the 95 % interval of the loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_low: Option<f64>,
    /// Upper end of the 95 % interval of the loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_high: Option<f64>,
    /// Datagrams that came after one with a higher number.
    pub reordered: u64,
    /// Datagrams that came twice.
    pub duplicates: u64,
    /// Jitter by RFC 3550 section 6.4.1 at the end, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_us: Option<f64>,
    /// Rate that was sent, bit/s of payload.
    pub sent_bps: f64,
    /// Rate that arrived, bit/s of payload.
    pub received_bps: f64,
    /// Datagrams the own host refused to send (full queue of the device).
    pub refused: u64,
    /// Longest run of datagrams lost one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_loss: Option<u64>,
    /// How many separate runs of lost datagrams there were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_runs: Option<u64>,
}

/// One rate of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepStep {
    /// Rate that was asked for, bit/s of payload.
    pub rate_bps: u64,
    /// What became of it.
    #[serde(flatten)]
    pub udp: Udp,
    /// Round trip of the probes beside it, median, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_p50_us: Option<f64>,
}

/// Latency probes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probes {
    /// Probes that were sent.
    pub sent: u64,
    /// Probes that were answered.
    pub n: u64,
    /// Share without an answer.
    pub lost: f64,
    /// Smallest round trip, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_us: Option<f64>,
    /// Mean, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// Median, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<f64>,
    /// 95th percentile, µs; absent below 20 answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_us: Option<f64>,
    /// 99th percentile, µs; absent below 100 answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// Whether the times are the kernel's own on the near end (else the program's).
    pub kernel_times: bool,
    /// Sending times, µs after the step's load started, and round trips, ns (absent = no answer).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
}

/// What a search for the path MTU found. Sizes are IP packets, bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pmtu {
    /// Largest that arrived from near to far with fragmentation forbidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<u32>,
    /// Largest that arrived from far to near with fragmentation forbidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down: Option<u32>,
    /// What the near kernel holds for the path's MTU after the search, from ICMP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near_kernel: Option<u32>,
    /// What the far kernel holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far_kernel: Option<u32>,
    /// Whether larger packets vanished without any word (ICMP) to the near end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_up: Option<bool>,
    /// The same of the far end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_down: Option<bool>,
    /// Largest datagram that arrived when fragmentation was allowed, near to far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragmented_up: Option<u32>,
}

/// Datagrams of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeStep {
    /// IP packet, bytes.
    pub packet: u32,
    /// Direction.
    pub direction: Direction,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams that arrived.
    pub received: u64,
}

/// Requests one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Short {
    /// Requests that ended.
    pub n: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Time to connect, median, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_p50_us: Option<f64>,
    /// From start to the first byte of the answer, median, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_p50_us: Option<f64>,
    /// From start to the last byte of the answer, median, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_p50_us: Option<f64>,
    /// The same, 95th percentile; absent below 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_p95_us: Option<f64>,
    /// Each completion time, µs.
    pub complete_us: Vec<f64>,
}
