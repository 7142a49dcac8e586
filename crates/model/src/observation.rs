//! What was seen of a host's live TCP connections, and what limits each.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::prefix::Prefix;

/// Version of [`Observation`].
pub const OBSERVATION_SCHEMA: u32 = 1;

/// The TCP connections of a host over a span of time, those that something limits first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// [`OBSERVATION_SCHEMA`] of the writer.
    pub schema: u32,
    /// Release of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Which connections were looked at.
    pub filter: Filter,
    /// Times the sockets were listed.
    pub dumps: usize,
    /// Time from the first list to the last, us.
    pub observed_us: u64,
    /// Whether it was ended before its time.
    pub cut_short: bool,
    /// Connections that were seen and are not shown.
    pub left_out: usize,
    /// The connections.
    pub sockets: Vec<ObservedSocket>,
}

impl Observation {
    /// The connections as flat rows, of a list taken at `at_us`.
    pub fn rows(self, at_us: u64) -> Vec<SocketRow> {
        let row = |socket| SocketRow {
            schema: self.schema,
            at_us,
            socket,
        };
        self.sockets.into_iter().map(row).collect()
    }
}

/// Which connections are looked at; nothing = all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Those to these addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst: Option<Prefix>,
    /// Those with this port at either end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

impl Filter {
    /// Whether a connection is looked at.
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
    /// End of the time observed, since the first list of the whole run, us.
    pub at_us: u64,
    /// The connection.
    #[serde(flatten)]
    pub socket: ObservedSocket,
}

/// One connection. What the kernel does not tell, and what too few samples cannot tell, is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservedSocket {
    /// Own address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// What limits it.
    pub verdict: Verdict,
    /// The figure that decided.
    #[serde(flatten)]
    pub because: Because,
    /// Congestion control in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    /// Process that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Name of that process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// User who owns it.
    pub uid: u32,
    /// Times it was seen.
    pub samples: usize,
    /// Time from the first sample to the last, us.
    pub observed_us: u64,
    /// Whether it was gone at the end.
    pub ended: bool,
    /// Payload that the peer acknowledged, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_out_bps: Option<f64>,
    /// Payload that was received in order, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_in_bps: Option<f64>,
    /// Median of the delivery rate over the samples that the application did not limit, or over all
    /// if it limited all, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_rate_bps: Option<f64>,
    /// Retransmitted bytes as a share of the bytes sent: as the figure `retransmitted` of a Run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmission_rate: Option<f64>,
    /// Bytes retransmitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_bytes: Option<u64>,
    /// Median of the smoothed RTT, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_us: Option<f64>,
    /// Smallest RTT of the recent past (300 s unless `tcp_min_rtt_wlen` says otherwise), us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_us: Option<u32>,
    /// `rtt_us` over `min_rtt_us`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_over_min: Option<f64>,
    /// Share of the time with data to send or to be acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// Share of the busy time in which the peer's window limited it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwnd_limited: Option<f64>,
    /// Share of the busy time in which the send buffer limited it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited: Option<f64>,
    /// Share of the samples at which the application had not given enough to fill the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_limited: Option<f64>,
    /// What remains of the busy time: the congestion window, its pacing, or the application.
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
    /// The window the peer offers, bytes, at the last sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_window_bytes: Option<u32>,
    /// Limit of the send buffer as the kernel counts, bytes, at the last sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer_bytes: Option<u32>,
    /// Median share of the receive buffer that is filled with what the application has not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_buffer_used: Option<f64>,
    /// Highest pacing rate the application allows, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_limit_bps: Option<f64>,
    /// Reordering events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reord_seen: Option<u64>,
    /// Duplicates that the peer reported: what was sent again in vain.
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

/// What limits a connection, seen from this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The window that the peer offers: its buffer is small, or its application does not read.
    ReceiveWindow,
    /// The send buffer of this host.
    SendBuffer,
    /// The congestion window or the pacing that follows from it: loss, or the rate of the path.
    LossOrPath,
    /// A pacing rate that the application set.
    PacingLimit,
    /// The application on this host does not read what has arrived.
    NotRead,
    /// The application on this host has nothing to send.
    Application,
    /// Data comes in; what limits it can be seen at the other end.
    ReceivingOnly,
    /// The samples or the kernel do not say.
    CannotTell,
    /// Nothing moves and nothing waits.
    Idle,
}

impl Verdict {
    /// The verdict for people.
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

/// The figure that decided a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Because {
    /// Which one.
    #[serde(rename = "because")]
    pub figure: Figure,
    /// Its value; absent if the kernel does not tell it.
    #[serde(rename = "because_value", skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What it was compared with.
    #[serde(rename = "because_threshold")]
    pub threshold: f64,
}

/// Figures that decide.
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
    /// [`ObservedSocket::busy`].
    Busy,
    /// [`ObservedSocket::receive_buffer_used`].
    ReceiveBufferUsed,
    /// Goodput over [`ObservedSocket::pacing_limit_bps`].
    PacingLimitUsed,
    /// Payload sent as a share of all payload.
    SentShare,
    /// Payload moved, bytes.
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
