//! Fields of `TCP_INFO` as columns.

use model::run::Column;

use super::TcpInfo;

/// Fields of [`TcpInfo`].
pub const FIELDS: usize = 72;

/// Every field, in the kernel's order; absent where the kernel reported none.
pub fn entries(info: &TcpInfo) -> [(Column, Option<u64>); FIELDS] {
    [
        (Column::State, Some(u64::from(info.state))),
        (Column::CaState, Some(u64::from(info.ca_state))),
        (Column::Retransmits, Some(u64::from(info.retransmits))),
        (Column::Probes, Some(u64::from(info.probes))),
        (Column::Backoff, Some(u64::from(info.backoff))),
        (Column::Options, Some(u64::from(info.options))),
        (Column::SndWscale, Some(u64::from(info.snd_wscale))),
        (Column::RcvWscale, Some(u64::from(info.rcv_wscale))),
        (
            Column::DeliveryRateAppLimited,
            Some(u64::from(info.delivery_rate_app_limited)),
        ),
        (
            Column::FastopenClientFail,
            Some(u64::from(info.fastopen_client_fail)),
        ),
        (Column::RtoUs, Some(u64::from(info.rto_us))),
        (Column::AtoUs, Some(u64::from(info.ato_us))),
        (Column::SndMss, Some(u64::from(info.snd_mss))),
        (Column::RcvMss, Some(u64::from(info.rcv_mss))),
        (Column::Unacked, Some(u64::from(info.unacked))),
        (Column::Sacked, Some(u64::from(info.sacked))),
        (Column::Lost, Some(u64::from(info.lost))),
        (Column::Retrans, Some(u64::from(info.retrans))),
        (Column::Fackets, Some(u64::from(info.fackets))),
        (
            Column::LastDataSentMs,
            Some(u64::from(info.last_data_sent_ms)),
        ),
        (
            Column::LastAckSentMs,
            Some(u64::from(info.last_ack_sent_ms)),
        ),
        (
            Column::LastDataRecvMs,
            Some(u64::from(info.last_data_recv_ms)),
        ),
        (
            Column::LastAckRecvMs,
            Some(u64::from(info.last_ack_recv_ms)),
        ),
        (Column::Pmtu, Some(u64::from(info.pmtu))),
        (Column::RcvSsthresh, Some(u64::from(info.rcv_ssthresh))),
        (Column::RttUs, Some(u64::from(info.rtt_us))),
        (Column::RttvarUs, Some(u64::from(info.rttvar_us))),
        (Column::SndSsthresh, Some(u64::from(info.snd_ssthresh))),
        (Column::SndCwnd, Some(u64::from(info.snd_cwnd))),
        (Column::Advmss, Some(u64::from(info.advmss))),
        (Column::Reordering, Some(u64::from(info.reordering))),
        (Column::RcvRttUs, Some(u64::from(info.rcv_rtt_us))),
        (Column::RcvSpace, Some(u64::from(info.rcv_space))),
        (Column::TotalRetrans, Some(u64::from(info.total_retrans))),
        (Column::PacingRateBytesS, info.pacing_rate_bytes_s),
        (Column::MaxPacingRateBytesS, info.max_pacing_rate_bytes_s),
        (Column::BytesAcked, info.bytes_acked),
        (Column::BytesReceived, info.bytes_received),
        (Column::SegsOut, info.segs_out.map(u64::from)),
        (Column::SegsIn, info.segs_in.map(u64::from)),
        (Column::NotsentBytes, info.notsent_bytes.map(u64::from)),
        (Column::MinRttUs, info.min_rtt_us.map(u64::from)),
        (Column::DataSegsIn, info.data_segs_in.map(u64::from)),
        (Column::DataSegsOut, info.data_segs_out.map(u64::from)),
        (Column::DeliveryRateBytesS, info.delivery_rate_bytes_s),
        (Column::BusyTimeUs, info.busy_time_us),
        (Column::RwndLimitedUs, info.rwnd_limited_us),
        (Column::SndbufLimitedUs, info.sndbuf_limited_us),
        (Column::Delivered, info.delivered.map(u64::from)),
        (Column::DeliveredCe, info.delivered_ce.map(u64::from)),
        (Column::BytesSent, info.bytes_sent),
        (Column::BytesRetrans, info.bytes_retrans),
        (Column::DsackDups, info.dsack_dups.map(u64::from)),
        (Column::ReordSeen, info.reord_seen.map(u64::from)),
        (Column::RcvOoopack, info.rcv_ooopack.map(u64::from)),
        (Column::SndWnd, info.snd_wnd.map(u64::from)),
        (Column::RcvWnd, info.rcv_wnd.map(u64::from)),
        (Column::Rehash, info.rehash.map(u64::from)),
        (Column::TotalRto, info.total_rto.map(u64::from)),
        (
            Column::TotalRtoRecoveries,
            info.total_rto_recoveries.map(u64::from),
        ),
        (
            Column::TotalRtoTimeMs,
            info.total_rto_time_ms.map(u64::from),
        ),
        (Column::ReceivedCe, info.received_ce.map(u64::from)),
        (
            Column::DeliveredE1Bytes,
            info.delivered_e1_bytes.map(u64::from),
        ),
        (
            Column::DeliveredE0Bytes,
            info.delivered_e0_bytes.map(u64::from),
        ),
        (
            Column::DeliveredCeBytes,
            info.delivered_ce_bytes.map(u64::from),
        ),
        (
            Column::ReceivedE1Bytes,
            info.received_e1_bytes.map(u64::from),
        ),
        (
            Column::ReceivedE0Bytes,
            info.received_e0_bytes.map(u64::from),
        ),
        (
            Column::ReceivedCeBytes,
            info.received_ce_bytes.map(u64::from),
        ),
        (Column::EcnMode, info.ecn_mode.map(u64::from)),
        (Column::AccecnOptSeen, info.accecn_opt_seen.map(u64::from)),
        (Column::AccecnFailMode, info.accecn_fail_mode.map(u64::from)),
        (Column::Options2, info.options2.map(u64::from)),
    ]
}
