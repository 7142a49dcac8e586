//! The Observation: live TCP connections of a host, and the limiting factor of each.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::prefix::Prefix;

/// Version of [`Observation`].
pub const OBSERVATION_SCHEMA: u32 = 1;

/// The TCP connections of a host over an interval, limited connections first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// [`OBSERVATION_SCHEMA`] of the writer.
    pub schema: u32,
    /// Release of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Selected connections.
    pub filter: Filter,
    /// Number of socket dumps.
    pub dumps: usize,
    /// Time from the first dump to the last, us.
    pub observed_us: u64,
    /// True if it ended early.
    pub cut_short: bool,
    /// Number of connections that are not listed.
    pub left_out: usize,
    /// The connections.
    pub sockets: Vec<ObservedSocket>,
}

impl Observation {
    /// The connections as flat rows of an observation that ended at `at_us`.
    pub fn rows(self, at_us: u64) -> Vec<SocketRow> {
        let row = |socket| SocketRow {
            schema: self.schema,
            at_us,
            socket,
        };
        self.sockets.into_iter().map(row).collect()
    }
}

/// Selection of connections; empty = all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// By remote address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst: Option<Prefix>,
    /// By local or remote port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

impl Filter {
    /// Returns true if a connection is selected.
    pub fn admits(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        let port = |p| local.port() == p || remote.port() == p;
        self.dst.is_none_or(|dst| dst.contains(remote.ip())) && self.port.is_none_or(port)
    }
}

/// One connection as a flat row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SocketRow {
    /// [`OBSERVATION_SCHEMA`] of the writer.
    pub schema: u32,
    /// End of the observed interval, since the first dump of the whole run, us.
    pub at_us: u64,
    /// The connection.
    #[serde(flatten)]
    pub socket: ObservedSocket,
}

/// One connection. Values that the kernel does not report, or for which there are too few samples,
/// are absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservedSocket {
    /// Local address and port.
    pub local: SocketAddr,
    /// Remote address and port.
    pub remote: SocketAddr,
    /// Limiting factor.
    pub verdict: Verdict,
    /// The decisive figure.
    #[serde(flatten)]
    pub because: Because,
    /// Congestion control in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    /// Process that owns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Name of that process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// User id of the owner.
    pub uid: u32,
    /// Number of samples.
    pub samples: usize,
    /// Time from the first sample to the last, us.
    pub observed_us: u64,
    /// True if it closed before the end.
    pub ended: bool,
    /// Acknowledged payload, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_out_bps: Option<f64>,
    /// Payload received in order, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_in_bps: Option<f64>,
    /// Median delivery rate over the samples that were not application-limited, or over all if
    /// there are none, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_rate_bps: Option<f64>,
    /// Retransmitted bytes as a share of the bytes sent, like the figure `retransmitted` of a Run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmission_rate: Option<f64>,
    /// Bytes retransmitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_bytes: Option<u64>,
    /// Bytes sent, retransmissions included; absent in observations of early versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_bytes: Option<u64>,
    /// Median of the smoothed RTT, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_us: Option<f64>,
    /// Smallest RTT of the recent past (300 s by default; `tcp_min_rtt_wlen`), us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_us: Option<u32>,
    /// `rtt_us` over `min_rtt_us`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_over_min: Option<f64>,
    /// Share of the time with unsent or unacknowledged data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// Share of the busy time limited by the peer's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwnd_limited: Option<f64>,
    /// Share of the busy time limited by the send buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited: Option<f64>,
    /// Share of application-limited samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_limited: Option<f64>,
    /// Share of the samples with no unsent data (Linux 4.6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_sent: Option<f64>,
    /// Rest of the busy time: limited by the congestion window, pacing, or the application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_limited: Option<f64>,
    /// Congestion window, segments, at the last sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd: Option<u32>,
    /// Slow start threshold, segments, at the last sample; absent before the first loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<u32>,
    /// Longest segment sent, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss_bytes: Option<u32>,
    /// Path MTU, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmtu_bytes: Option<u32>,
    /// Window advertised by the peer, bytes, at the last sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_window_bytes: Option<u32>,
    /// Send buffer limit (`sk_sndbuf`), bytes, at the last sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer_bytes: Option<u32>,
    /// Median fill of the receive buffer with unread data, as a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_buffer_used: Option<f64>,
    /// Maximum pacing rate set by the application, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_limit_bps: Option<f64>,
    /// Reordering events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reord_seen: Option<u64>,
    /// Duplicate segments reported by the peer: unnecessary retransmissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack_dups: Option<u64>,
    /// Retransmission timeouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u64>,
    /// bbr's estimate of the bandwidth at the last sample, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bbr_bandwidth_bps: Option<f64>,
    /// bbr's estimate of the RTT without queue at the last sample, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bbr_min_rtt_us: Option<u32>,
}

/// Limiting factor of a connection, as seen from this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The peer's window: its buffer is small, or its application does not read.
    ReceiveWindow,
    /// The send buffer of this host.
    SendBuffer,
    /// The congestion window or the pacing that follows from it: loss, or the rate of the path.
    LossOrPath,
    /// A pacing rate that the application set.
    PacingLimit,
    /// The local application does not read.
    NotRead,
    /// The local application has nothing to send.
    Application,
    /// The connection only receives; the limit is visible at the sender.
    ReceivingOnly,
    /// Insufficient samples or kernel data.
    CannotTell,
    /// No data transferred or waiting.
    Idle,
}

impl Verdict {
    /// Label for display.
    pub fn label(self) -> &'static str {
        match self {
            Verdict::ReceiveWindow => "receive window",
            Verdict::SendBuffer => "send buffer",
            Verdict::LossOrPath => "loss or path (cwnd)",
            Verdict::PacingLimit => "pacing limit",
            Verdict::NotRead => "application does not read",
            Verdict::Application => "application",
            Verdict::ReceivingOnly => "receiving only",
            Verdict::CannotTell => "cannot tell",
            Verdict::Idle => "idle",
        }
    }
}

/// The decisive figure of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Because {
    /// The figure.
    #[serde(rename = "because")]
    pub figure: Figure,
    /// Its value; absent if the kernel does not report it.
    #[serde(rename = "because_value", skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Its threshold.
    #[serde(rename = "because_threshold")]
    pub threshold: f64,
}

/// Figures that a verdict is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// [`ObservedSocket::rwnd_limited`].
    RwndLimited,
    /// [`ObservedSocket::sndbuf_limited`].
    SndbufLimited,
    /// [`ObservedSocket::cwnd_limited`].
    CwndLimited,
    /// [`ObservedSocket::app_limited`].
    AppLimited,
    /// [`ObservedSocket::all_sent`].
    AllSent,
    /// [`ObservedSocket::busy`].
    Busy,
    /// [`ObservedSocket::receive_buffer_used`].
    ReceiveBufferUsed,
    /// Goodput over [`ObservedSocket::pacing_limit_bps`].
    PacingLimitUsed,
    /// Payload sent as a share of all payload.
    SentShare,
    /// Payload transferred, bytes.
    MovedBytes,
    /// [`ObservedSocket::samples`].
    Samples,
    /// [`ObservedSocket::observed_us`].
    ObservedUs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_takes_the_port_at_either_end_and_the_address_of_the_peer() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (here, there) = (at("10.0.0.1:40000"), at("192.0.2.7:443"));
        let dst = |text: &str| Filter {
            dst: text.parse().ok(),
            port: None,
        };
        assert!(Filter::default().admits(here, there));
        assert!(dst("192.0.2.0/24").admits(here, there));
        assert!(!dst("10.0.0.0/8").admits(here, there));
        for (port, admitted) in [(443, true), (40000, true), (80, false)] {
            let filter = Filter {
                dst: None,
                port: Some(port),
            };
            assert_eq!(filter.admits(here, there), admitted, "{port}");
        }
    }
}
