//! Results of the kinds of steps: parts of a sample.

use serde::{Deserialize, Serialize};

use super::Series;
use crate::net::Direction;

/// Result of a TCP load. Rates are over the time after the warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tcp {
    /// Congestion control of the senders' sockets as reported by the kernel; for QUIC that of the
    /// library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc_used: Option<String>,
    /// Measured time, µs after the load started: from, to.
    pub window_us: [i64; 2],
    /// Total goodput of all flows, bit/s.
    pub goodput_bps: f64,
    /// Total payload received, including the warm-up.
    pub bytes: u64,
    /// The flows.
    pub flows: Vec<FlowResult>,
}

/// One connection of a TCP load. Values the kernel does not report are absent. Sums and shares are
/// over the measured time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowResult {
    /// Goodput, bit/s.
    pub goodput_bps: f64,
    /// Retransmitted segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Share of the sent bytes that were retransmitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<f64>,
    /// Data segments sent, including retransmissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<u64>,
    /// Duplicate segments reported by the receiver (DSACK): spurious retransmissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsack_dups: Option<u64>,
    /// Reordering events seen by the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reord_seen: Option<u64>,
    /// Segments delivered with a congestion mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_ce: Option<u64>,
    /// Retransmission timeouts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u64>,
    /// Share of the busy time limited by the receive window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rwnd_limited: Option<f64>,
    /// Share of the busy time limited by the send buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited: Option<f64>,
    /// Share of the time with unsent or unacknowledged data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// Share of application-limited samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_limited: Option<f64>,
    /// Minimum RTT of the sender, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rtt_us: Option<f64>,
    /// Smoothed RTT, median of the samples, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_p50_us: Option<f64>,
    /// Smoothed RTT, 95th percentile of the samples, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_p95_us: Option<f64>,
    /// Congestion window, median of the samples, segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwnd_p50: Option<f64>,
    /// Window advertised by the receiver, median of the samples, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snd_wnd_p50: Option<f64>,
    /// Delivery rate estimated by the sender, median of the samples, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_rate_p50_bps: Option<f64>,
    /// Longest segment sent, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    /// Path MTU of the sending socket, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pmtu: Option<u32>,
    /// TCP options in use, as the kernel's bits: 1 timestamps, 2 SACK, 4 window scale, 8 ECN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<u32>,
    /// The part after slow start; absent if slow start did not end or its end is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_start: Option<AfterStart>,
    /// Samples of the sender's `TCP_INFO`, all fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Samples of the receiver: `bytes_received` and other fields of its kernel, or `bytes_read` by
    /// its program if the kernel does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<Series>,
}

/// A connection after slow start and the repair of the losses at its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AfterStart {
    /// Start and end, µs after the load started.
    pub window_us: [i64; 2],
    /// Smoothed RTT, median of the samples, µs.
    pub rtt_us: f64,
    /// Data segments sent, including retransmissions.
    pub segments: f64,
    /// Smoothed RTT before each loss event, µs. Losses within a round trip are one event (RFC 5348
    /// section 5.2).
    pub events_us: Vec<f64>,
}

/// Result of a UDP load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Udp {
    /// Payload bytes of a datagram.
    pub payload: u32,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received, without duplicates.
    pub received: u64,
    /// Share of lost datagrams.
    pub lost: f64,
    /// Lower end of the 95 % interval of the loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_low: Option<f64>,
    /// Upper end of the 95 % interval of the loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_high: Option<f64>,
    /// Datagrams received after one with a higher number.
    pub reordered: u64,
    /// Duplicate datagrams.
    pub duplicates: u64,
    /// Jitter by RFC 3550 section 6.4.1 at the end, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_us: Option<f64>,
    /// Sending rate, bit/s of payload.
    pub sent_bps: f64,
    /// Receiving rate, bit/s of payload.
    pub received_bps: f64,
    /// Datagrams rejected by the sending host (full device queue).
    pub refused: u64,
    /// Longest burst of consecutive losses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_loss: Option<u64>,
    /// Number of bursts of consecutive losses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_runs: Option<u64>,
}

/// Result of one rate of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepStep {
    /// Requested rate, bit/s of payload.
    pub rate_bps: u64,
    /// Result at this rate.
    #[serde(flatten)]
    pub udp: Udp,
    /// RTT of the probes during this load, median, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_p50_us: Option<f64>,
}

/// Result of latency probes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probes {
    /// Probes sent.
    pub sent: u64,
    /// Probes answered.
    pub n: u64,
    /// Share of unanswered probes.
    pub lost: f64,
    /// Minimum RTT, µs.
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
    /// True if the near end used kernel timestamps instead of the program's clock.
    pub kernel_times: bool,
    /// Sending times, µs after the step's load started, and RTTs, ns (absent = no answer).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
}

/// Result of a path MTU search. Sizes are of IP packets, bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pmtu {
    /// Largest packet that arrived from near to far with fragmentation forbidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<u32>,
    /// Largest packet that arrived from far to near with fragmentation forbidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down: Option<u32>,
    /// Path MTU cached by the near kernel after the search, from ICMP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near_kernel: Option<u32>,
    /// Path MTU cached by the far kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far_kernel: Option<u32>,
    /// True if larger packets were dropped without ICMP to the near end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_up: Option<bool>,
    /// The same for the far end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_down: Option<bool>,
    /// Largest datagram that arrived when fragmentation was allowed, near to far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragmented_up: Option<u32>,
}

/// Result for datagrams of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeStep {
    /// IP packet, bytes.
    pub packet: u32,
    /// Direction.
    pub direction: Direction,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received.
    pub received: u64,
}

/// Result of consecutive requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Short {
    /// Completed requests.
    pub n: u64,
    /// Failed requests.
    pub failed: u64,
    /// Time to connect, median, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_p50_us: Option<f64>,
    /// Time to the first byte of the response, median, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_p50_us: Option<f64>,
    /// Time to the last byte of the response, median, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_p50_us: Option<f64>,
    /// The same, 95th percentile; absent below 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_p95_us: Option<f64>,
    /// Each completion time, µs.
    pub complete_us: Vec<f64>,
}
