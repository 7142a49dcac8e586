//! The figures of one connection.

use analysis::flow::{self, Delivery};
use model::{counter::growth, observation::ObservedSocket};
use stats::median;
use sys::tcp_info::TcpInfo;

use super::{
    connection::Connection,
    moved::Moved,
    sample::{Counters, Sample},
    verdict,
};

/// Slow start threshold of a connection that has had no loss (`TCP_INFINITE_SSTHRESH`,
/// include/net/tcp.h, Linux 7.2).
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// The figures of a connection and its verdict. `end` is the time of the last list.
pub(super) fn socket(connection: &Connection, end: u64) -> ObservedSocket {
    let samples = &connection.samples;
    let last = &connection.last;
    let none = Counters::default();
    let first_counters = samples.first().map_or(&none, |s| &s.counters);
    let last_counters = samples.last().map_or(&none, |s| &s.counters);
    let counted = |counter: fn(&Counters) -> Option<u64>| {
        let several = samples.len() > 1;
        let (before, after) = (counter(first_counters)?, counter(last_counters)?);
        growth(before, after).filter(|_| several)
    };
    let ended_us = samples.last().map_or(0, |s| s.at_us);
    let moved = Moved {
        span_us: ended_us - samples.first().map_or(ended_us, |s| s.at_us),
        acked: counted(|c| c.acked),
        received: counted(|c| c.received),
        busy_us: counted(|c| c.busy_us),
    };
    let of_busy = |time: Option<u64>| flow::limited(time? as f64, moved.busy_us? as f64);
    let rwnd_limited = of_busy(counted(|c| c.rwnd_limited_us));
    let sndbuf_limited = of_busy(counted(|c| c.sndbuf_limited_us));
    let retransmitted = counted(|c| c.retransmitted);
    let deliveries = deliveries(samples);
    let info = last.info.unwrap_or_default();
    let rtt_us = middle(samples, |s| s.rtt_us.map(f64::from));
    let owner = connection.owner.as_ref();
    let mut socket = ObservedSocket {
        local: last.local,
        remote: last.remote,
        verdict: model::observation::Verdict::CannotTell,
        because: verdict::nothing(),
        cc: last.congestion.clone(),
        pid: owner.map(|o| o.pid),
        process: owner.map(|o| o.name.clone()),
        uid: last.uid,
        samples: samples.len(),
        observed_us: moved.span_us,
        ended: ended_us < end,
        goodput_out_bps: rate(moved.acked, moved.span_us),
        goodput_in_bps: rate(moved.received, moved.span_us),
        delivery_rate_bps: flow::delivery_rate_bps(&deliveries),
        retransmission_rate: retransmitted.zip(counted(|c| c.sent)).and_then(
            |(retransmitted, sent)| flow::retransmitted(retransmitted as f64, sent as f64),
        ),
        retransmitted_bytes: retransmitted,
        sent_bytes: counted(|c| c.sent),
        rtt_us,
        min_rtt_us: info.min_rtt_us,
        rtt_over_min: rtt_us
            .zip(info.min_rtt_us)
            .and_then(|(rtt, min)| flow::rtt_over_min(rtt, f64::from(min))),
        busy: moved
            .busy_us
            .and_then(|us| flow::busy(us as f64, moved.span_us as f64)),
        rwnd_limited,
        sndbuf_limited,
        app_limited: flow::app_limited(&deliveries),
        all_sent: all_sent(samples),
        cwnd_limited: rwnd_limited
            .zip(sndbuf_limited)
            .map(|(rwnd, sndbuf)| flow::cwnd_limited(rwnd, sndbuf)),
        cwnd: Some(info.snd_cwnd).filter(|&cwnd| cwnd > 0),
        ssthresh: Some(info.snd_ssthresh).filter(|&s| s != NO_SSTHRESH && s > 0),
        mss_bytes: Some(info.snd_mss).filter(|&mss| mss > 0),
        pmtu_bytes: Some(info.pmtu).filter(|&pmtu| pmtu > 0),
        peer_window_bytes: info.snd_wnd,
        send_buffer_bytes: last.memory.map(|m| m.send_limit_bytes),
        receive_buffer_used: middle(samples, |s| s.unread),
        pacing_limit_bps: pacing_limit(&info),
        reord_seen: counted(|c| c.reordered),
        dsack_dups: counted(|c| c.duplicates),
        timeouts: counted(|c| c.timeouts),
        bbr_bandwidth_bps: last.bbr.map(|b| b.bw_bytes_s as f64 * 8.0),
        bbr_min_rtt_us: last.bbr.and_then(|b| b.min_rtt_us),
    };
    (socket.verdict, socket.because) = verdict::of(&socket, &moved);
    socket
}

/// Bytes over a span as bit/s; unknown if no time has passed.
fn rate(bytes: Option<u64>, span_us: u64) -> Option<f64> {
    flow::rate_bps(bytes? as f64, span_us as f64)
}

/// Share of the samples without unsent data.
fn all_sent(samples: &[Sample]) -> Option<f64> {
    let unsent: Vec<u32> = samples.iter().filter_map(|s| s.unsent_bytes).collect();
    let none = unsent.iter().filter(|&&bytes| bytes == 0).count();
    (!unsent.is_empty()).then(|| none as f64 / unsent.len() as f64)
}

fn middle(samples: &[Sample], value: impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
    median(&samples.iter().filter_map(value).collect::<Vec<_>>())
}

/// The samples with a delivery rate.
fn deliveries(samples: &[Sample]) -> Vec<Delivery> {
    let of = |s: &Sample| {
        Some(Delivery {
            rate_bytes_s: s.delivery_rate_bytes_s? as f64,
            app_limited: s.app_limited,
        })
    };
    samples.iter().filter_map(of).collect()
}

fn pacing_limit(info: &TcpInfo) -> Option<f64> {
    info.max_pacing_rate_bytes_s.map(|rate| rate as f64 * 8.0)
}
