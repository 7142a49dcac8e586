//! Samples of a socket.

use sys::sock_diag::TcpSocket;

/// The values of a moment and the counters since the connection began. Fields that the kernel lacks
/// are absent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) at_us: u64,
    /// Absent before the first measurement, which the kernel shows as 0.
    pub(super) rtt_us: Option<u32>,
    pub(super) delivery_rate_bytes_s: Option<u64>,
    pub(super) app_limited: bool,
    /// Data in the send queue that was not sent yet, bytes.
    pub(super) unsent_bytes: Option<u32>,
    /// Share of the receive buffer filled with data that the application has not read.
    pub(super) unread: Option<f64>,
    pub(super) counters: Counters,
}

/// Counters since the connection began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub(super) acked: Option<u64>,
    pub(super) received: Option<u64>,
    pub(super) sent: Option<u64>,
    pub(super) retransmitted: Option<u64>,
    pub(super) busy_us: Option<u64>,
    pub(super) rwnd_limited_us: Option<u64>,
    pub(super) sndbuf_limited_us: Option<u64>,
    pub(super) reordered: Option<u64>,
    pub(super) duplicates: Option<u64>,
    pub(super) timeouts: Option<u64>,
}

impl Sample {
    /// `None` if the kernel returned no `TCP_INFO`.
    pub(super) fn of(at_us: u64, socket: &TcpSocket) -> Option<Sample> {
        let info = socket.info.as_ref()?;
        Some(Sample {
            at_us,
            rtt_us: Some(info.rtt_us).filter(|&us| us > 0),
            delivery_rate_bytes_s: info.delivery_rate_bytes_s.filter(|&rate| rate > 0),
            app_limited: info.delivery_rate_app_limited,
            unsent_bytes: info.notsent_bytes,
            unread: unread(socket),
            counters: Counters {
                acked: info.bytes_acked,
                received: info.bytes_received,
                sent: info.bytes_sent,
                retransmitted: info.bytes_retrans,
                busy_us: info.busy_time_us,
                rwnd_limited_us: info.rwnd_limited_us,
                sndbuf_limited_us: info.sndbuf_limited_us,
                reordered: info.reord_seen.map(u64::from),
                duplicates: info.dsack_dups.map(u64::from),
                timeouts: info.total_rto.map(u64::from),
            },
        })
    }
}

/// The kernel offers about half of the buffer as window and reserves the rest for its overhead
/// (`tcp_adv_win_scale`, Documentation/networking/ip-sysctl.rst), so half of it full of payload is
/// full.
fn unread(socket: &TcpSocket) -> Option<f64> {
    let limit = socket.memory?.receive_limit_bytes;
    let share = 2.0 * f64::from(socket.receive_queue_bytes) / f64::from(limit);
    (limit > 0).then(|| share.min(1.0))
}
