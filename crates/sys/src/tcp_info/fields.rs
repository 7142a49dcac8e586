//! The fields of `struct tcp_info` (include/uapi/linux/tcp.h, Linux 7.2).

use crate::bytes;

/// `TCP_INFO` of a connection. Fields of the classic part, which every kernel fills, are plain;
/// those that a kernel may lack are absent when the returned length ends before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// State of the connection (`TCP_ESTABLISHED` is 1).
    pub state: u8,
    /// State of congestion avoidance: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    /// Retransmissions of the segment that is unacknowledged now.
    pub retransmits: u8,
    /// Probes of a closed window or keepalive that are unanswered now.
    pub probes: u8,
    /// Doublings of the retransmission timer now.
    pub backoff: u8,
    /// Options in use, a set of `TCPI_OPT_*`: 1 timestamps, 2 SACK, 4 window scale, 8 ECN, 16 ECN
    /// seen, 32 SYN data.
    pub options: u8,
    /// Window scale of the peer, as a power of two.
    pub snd_wscale: u8,
    /// Own window scale, as a power of two.
    pub rcv_wscale: u8,
    /// True if the delivery rate was limited by the application.
    pub delivery_rate_app_limited: bool,
    /// Reason for the failure of fast open: 0 unknown, 1 no cookie, 2 data not acknowledged, 3
    /// retransmitted SYN.
    pub fastopen_client_fail: u8,
    /// Retransmission timeout, us.
    pub rto_us: u32,
    /// Delayed acknowledgement timeout, us.
    pub ato_us: u32,
    /// Longest segment sent, bytes.
    pub snd_mss: u32,
    /// Estimate of the longest segment received, bytes.
    pub rcv_mss: u32,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Segments acknowledged selectively.
    pub sacked: u32,
    /// Segments considered lost.
    pub lost: u32,
    /// Segments retransmitted and not acknowledged.
    pub retrans: u32,
    /// Obsolete.
    pub fackets: u32,
    /// Time since data was sent, ms.
    pub last_data_sent_ms: u32,
    /// Not remembered by the kernel: 0.
    pub last_ack_sent_ms: u32,
    /// Time since data was received, ms.
    pub last_data_recv_ms: u32,
    /// Time since an acknowledgement was received, ms.
    pub last_ack_recv_ms: u32,
    /// Path MTU, bytes.
    pub pmtu: u32,
    /// Limit of the window offered to the peer, bytes.
    pub rcv_ssthresh: u32,
    /// Smoothed round-trip time, us.
    pub rtt_us: u32,
    /// Its mean deviation, us.
    pub rttvar_us: u32,
    /// Slow start threshold, segments; 2147483647 = none yet.
    pub snd_ssthresh: u32,
    /// Congestion window, segments.
    pub snd_cwnd: u32,
    /// Longest segment offered to the peer, bytes.
    pub advmss: u32,
    /// Reordering tolerated, segments.
    pub reordering: u32,
    /// Round-trip time seen by the receiver, us.
    pub rcv_rtt_us: u32,
    /// Bytes the application reads in a round trip, as tuned for.
    pub rcv_space: u32,
    /// Segments retransmitted.
    pub total_retrans: u32,
    /// Pacing rate, bytes a second; absent also when unlimited.
    pub pacing_rate_bytes_s: Option<u64>,
    /// Highest pacing rate allowed, bytes a second; absent also when unlimited.
    pub max_pacing_rate_bytes_s: Option<u64>,
    /// Bytes acknowledged by the peer.
    pub bytes_acked: Option<u64>,
    /// Bytes received in order.
    pub bytes_received: Option<u64>,
    /// Segments sent.
    pub segs_out: Option<u32>,
    /// Segments received.
    pub segs_in: Option<u32>,
    /// Bytes in the send buffer that were not sent yet.
    pub notsent_bytes: Option<u32>,
    /// Smallest round-trip time of the recent past, us; absent also before the first.
    pub min_rtt_us: Option<u32>,
    /// Segments with data received.
    pub data_segs_in: Option<u32>,
    /// Segments with data sent.
    pub data_segs_out: Option<u32>,
    /// Rate at which the peer acknowledges, bytes a second.
    pub delivery_rate_bytes_s: Option<u64>,
    /// Time with data to send, us.
    pub busy_time_us: Option<u64>,
    /// Time limited by the receive window, us.
    pub rwnd_limited_us: Option<u64>,
    /// Time limited by the send buffer, us.
    pub sndbuf_limited_us: Option<u64>,
    /// Segments delivered, retransmissions included.
    pub delivered: Option<u32>,
    /// Segments delivered that were marked.
    pub delivered_ce: Option<u32>,
    /// Bytes sent, retransmissions included.
    pub bytes_sent: Option<u64>,
    /// Bytes retransmitted.
    pub bytes_retrans: Option<u64>,
    /// Duplicates reported by the peer.
    pub dsack_dups: Option<u32>,
    /// Reordering events seen.
    pub reord_seen: Option<u32>,
    /// Segments received out of order.
    pub rcv_ooopack: Option<u32>,
    /// Window offered by the peer, bytes.
    pub snd_wnd: Option<u32>,
    /// Window offered to the peer, bytes.
    pub rcv_wnd: Option<u32>,
    /// Changes of the flow's hash for a timeout or by PLB.
    pub rehash: Option<u32>,
    /// Retransmission timeouts.
    pub total_rto: Option<u16>,
    /// Recoveries after retransmission timeouts.
    pub total_rto_recoveries: Option<u16>,
    /// Time in such recoveries, ms.
    pub total_rto_time_ms: Option<u32>,
    /// Segments received that were marked.
    pub received_ce: Option<u32>,
    /// Bytes delivered with ECT(1), by accurate ECN.
    pub delivered_e1_bytes: Option<u32>,
    /// Bytes delivered with ECT(0), by accurate ECN.
    pub delivered_e0_bytes: Option<u32>,
    /// Bytes delivered with CE, by accurate ECN.
    pub delivered_ce_bytes: Option<u32>,
    /// Bytes received with ECT(1), by accurate ECN.
    pub received_e1_bytes: Option<u32>,
    /// Bytes received with ECT(0), by accurate ECN.
    pub received_e0_bytes: Option<u32>,
    /// Bytes received with CE, by accurate ECN.
    pub received_ce_bytes: Option<u32>,
    /// ECN as negotiated: 0 off, 1 classic, 2 accurate, 3 pending.
    pub ecn_mode: Option<u8>,
    /// Accurate ECN option of the peer: 0 not seen, 1 empty, 2 with counters, 3 failed.
    pub accecn_opt_seen: Option<u8>,
    /// Failures of accurate ECN, a set of `TCP_ACCECN_*_FAIL_*`.
    pub accecn_fail_mode: Option<u8>,
    /// More options, a set of `TCPI_OPT2_*`.
    pub options2: Option<u32>,
}

/// Length of the classic part, in bytes: up to and with `tcpi_total_retrans`.
pub(super) const CLASSIC_LEN: usize = 104;
/// Length of the whole, in bytes.
pub const TCP_INFO_LEN: usize = 280;

impl TcpInfo {
    /// Parses the result of `getsockopt`; `None` if even the classic part is cut off.
    pub fn parse(bytes: &[u8]) -> Option<TcpInfo> {
        if bytes.len() < CLASSIC_LEN {
            return None;
        }
        let b = Fields(bytes);
        Some(TcpInfo {
            state: b.u8(0),
            ca_state: b.u8(1),
            retransmits: b.u8(2),
            probes: b.u8(3),
            backoff: b.u8(4),
            options: b.u8(5),
            snd_wscale: b.u8(6) & 0xf,
            rcv_wscale: b.u8(6) >> 4,
            delivery_rate_app_limited: b.u8(7) & 1 != 0,
            fastopen_client_fail: b.u8(7) >> 1 & 3,
            rto_us: b.u32(8),
            ato_us: b.u32(12),
            snd_mss: b.u32(16),
            rcv_mss: b.u32(20),
            unacked: b.u32(24),
            sacked: b.u32(28),
            lost: b.u32(32),
            retrans: b.u32(36),
            fackets: b.u32(40),
            last_data_sent_ms: b.u32(44),
            last_ack_sent_ms: b.u32(48),
            last_data_recv_ms: b.u32(52),
            last_ack_recv_ms: b.u32(56),
            pmtu: b.u32(60),
            rcv_ssthresh: b.u32(64),
            rtt_us: b.u32(68),
            rttvar_us: b.u32(72),
            snd_ssthresh: b.u32(76),
            snd_cwnd: b.u32(80),
            advmss: b.u32(84),
            reordering: b.u32(88),
            rcv_rtt_us: b.u32(92),
            rcv_space: b.u32(96),
            total_retrans: b.u32(100),
            pacing_rate_bytes_s: b.o64(104).filter(|&r| r != u64::MAX),
            max_pacing_rate_bytes_s: b.o64(112).filter(|&r| r != u64::MAX),
            bytes_acked: b.o64(120),
            bytes_received: b.o64(128),
            segs_out: b.o32(136),
            segs_in: b.o32(140),
            notsent_bytes: b.o32(144),
            min_rtt_us: b.o32(148).filter(|&t| t != u32::MAX),
            data_segs_in: b.o32(152),
            data_segs_out: b.o32(156),
            delivery_rate_bytes_s: b.o64(160),
            busy_time_us: b.o64(168),
            rwnd_limited_us: b.o64(176),
            sndbuf_limited_us: b.o64(184),
            delivered: b.o32(192),
            delivered_ce: b.o32(196),
            bytes_sent: b.o64(200),
            bytes_retrans: b.o64(208),
            dsack_dups: b.o32(216),
            reord_seen: b.o32(220),
            rcv_ooopack: b.o32(224),
            snd_wnd: b.o32(228),
            rcv_wnd: b.o32(232),
            rehash: b.o32(236),
            total_rto: b.o16(240),
            total_rto_recoveries: b.o16(242),
            total_rto_time_ms: b.o32(244),
            received_ce: b.o32(248),
            delivered_e1_bytes: b.o32(252),
            delivered_e0_bytes: b.o32(256),
            delivered_ce_bytes: b.o32(260),
            received_e1_bytes: b.o32(264),
            received_e0_bytes: b.o32(268),
            received_ce_bytes: b.o32(272),
            ecn_mode: b.o32(276).map(|w| (w & 3) as u8),
            accecn_opt_seen: b.o32(276).map(|w| (w >> 2 & 3) as u8),
            accecn_fail_mode: b.o32(276).map(|w| (w >> 4 & 15) as u8),
            options2: b.o32(276).map(|w| w >> 8),
        })
    }
}

/// Fields by offset in bytes.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u8(&self, offset: usize) -> u8 {
        bytes::u8_at(self.0, offset).unwrap_or_default()
    }

    fn u32(&self, offset: usize) -> u32 {
        bytes::u32_at(self.0, offset).unwrap_or_default()
    }

    fn o16(&self, offset: usize) -> Option<u16> {
        bytes::u16_at(self.0, offset)
    }

    fn o32(&self, offset: usize) -> Option<u32> {
        bytes::u32_at(self.0, offset)
    }

    fn o64(&self, offset: usize) -> Option<u64> {
        bytes::u64_at(self.0, offset)
    }
}
