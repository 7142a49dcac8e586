//! Quantities of one connection, computed from its samples over time: for Runs, rows of the lab and
//! live sockets alike.

use model::run::{Column, FlowResult, Series};

use crate::{percentile, share::share, start};

/// Bytes over a time, bit/s; `None` if no time has passed.
pub fn rate_bps(bytes: f64, span_us: f64) -> Option<f64> {
    (span_us > 0.0).then(|| bytes * 8e6 / span_us)
}

/// Share of the sent bytes that were retransmitted: `tcpi_bytes_retrans` over `tcpi_bytes_sent`,
/// which counts retransmissions, too (RFC 4898, tcpEStatsPerfOctetsRetrans and
/// tcpEStatsPerfHCDataOctetsOut; Linux 4.19).
pub fn retransmitted(retransmitted_bytes: f64, sent_bytes: f64) -> Option<f64> {
    share(retransmitted_bytes, sent_bytes)
}

/// Share of the sent segments that were retransmitted: `tcpi_total_retrans` over
/// `tcpi_data_segs_out` (RFC 4898, tcpEStatsPerfSegsRetrans and tcpEStatsPerfDataSegsOut). The
/// figure `retransmitted` is of bytes; losses and duplicates are counted in segments.
pub fn retransmitted_segments(retransmitted: f64, sent: f64) -> Option<f64> {
    share(retransmitted, sent)
}

/// Share of the busy time in which a window or buffer limited the sender: `tcpi_rwnd_limited` or
/// `tcpi_sndbuf_limited` over `tcpi_busy_time` (Linux 4.10, net/ipv4/tcp.c,
/// tcp_get_info_chrono_stats).
pub fn limited(limited_us: f64, busy_us: f64) -> Option<f64> {
    share(limited_us, busy_us)
}

/// Share of the busy time in which neither window nor buffer limited the sender: the rest is due to
/// the congestion window, the path and the pacing. The kernel counts no such time
/// (`tcp_chrono_start`, net/ipv4/tcp_output.c, Linux 7.2: busy, rwnd limited and sndbuf limited).
pub fn cwnd_limited(rwnd_limited: f64, sndbuf_limited: f64) -> f64 {
    (1.0 - rwnd_limited - sndbuf_limited).max(0.0)
}

/// Round trip over the smallest one of the connection (`tcpi_rtt`, `tcpi_min_rtt`): above 1 if
/// packets wait in queues. `None` if the smallest is not known.
pub fn rtt_over_min(rtt_us: f64, min_rtt_us: f64) -> Option<f64> {
    (min_rtt_us > 0.0).then(|| rtt_us / min_rtt_us)
}

/// Share of the payload of both directions that this end sent and the other has acknowledged:
/// `tcpi_bytes_acked` and `tcpi_bytes_received` (Linux 4.1).
pub fn sent_share(acked_bytes: f64, received_bytes: f64) -> Option<f64> {
    share(acked_bytes, acked_bytes + received_bytes)
}

/// Goodput over the limit of the pacing rate (`tcpi_max_pacing_rate`, Linux 3.15). It may exceed 1:
/// the limit may have been lowered while the connection was observed.
pub fn pacing_used(goodput_bps: f64, limit_bps: f64) -> Option<f64> {
    (limit_bps > 0.0).then(|| goodput_bps / limit_bps)
}

/// Share of the time in which there was something to send or unacknowledged: `tcpi_busy_time` over
/// the time.
pub fn busy(busy_us: f64, span_us: f64) -> Option<f64> {
    share(busy_us, span_us)
}

/// The sender's estimate of its delivery rate at one sample. Before the first delivery there is
/// none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// `tcpi_delivery_rate`, byte/s (Linux 4.9, net/ipv4/tcp.c, tcp_compute_delivery_rate).
    pub rate_bytes_s: f64,
    /// `tcpi_delivery_rate_app_limited`: the application, not the path, limited that rate
    /// (net/ipv4/tcp_rate.c, tcp_rate_check_app_limited).
    pub app_limited: bool,
}

/// Share of the samples with a delivery rate that the application limited.
pub fn app_limited(samples: &[Delivery]) -> Option<f64> {
    let limited = samples.iter().filter(|s| s.app_limited).count();
    share(limited as f64, samples.len() as f64)
}

/// Delivery rate, bit/s: the median of the samples that the application did not limit; of all where
/// it limited each, as a rate that it limited is that of the application and not of the path.
pub fn delivery_rate_bps(samples: &[Delivery]) -> Option<f64> {
    let bps = |s: &Delivery| s.rate_bytes_s * 8.0;
    let own = samples.iter().filter(|s| !s.app_limited).map(bps);
    let all = || stats::median(&samples.iter().map(bps).collect::<Vec<_>>());
    stats::median(&own.collect::<Vec<_>>()).or_else(all)
}

/// The column that counts arrivals: of the receiver's kernel or, if that has none, of its program.
pub fn arrived(received: &Series) -> Column {
    first_of(received, &[Column::BytesReceived, Column::BytesRead]).unwrap_or(Column::BytesReceived)
}

/// Returns the column that counts retransmissions: segments of TCP, lost packets of QUIC.
pub fn retransmissions(sent: &Series) -> Option<Column> {
    first_of(sent, &[Column::TotalRetrans, Column::LostPackets])
}

/// The congestion window: segments of TCP, bytes of QUIC.
pub fn window(sent: &Series) -> Option<Column> {
    first_of(sent, &[Column::SndCwnd, Column::CwndBytes])
}

fn first_of(series: &Series, columns: &[Column]) -> Option<Column> {
    columns.iter().copied().find(|column| series.has(*column))
}

/// A TCP connection in the time that counts, µs: from, to. The series are not in it.
pub fn tcp(sent: &Series, received: &Series, window: [i64; 2]) -> FlowResult {
    let seen = Seen { sent, window };
    let busy_us = seen.grown(Column::BusyTimeUs);
    let of_busy = |column| limited(seen.grown(column)?, busy_us?);
    let deliveries = seen.deliveries();
    let mss = sent
        .points(Column::SndMss)
        .into_iter()
        .map(|(_, bytes)| bytes);
    FlowResult {
        goodput_bps: goodput(received, mss.max(), window),
        retransmits: seen.count(Column::TotalRetrans),
        retransmitted: seen.ratio(Column::BytesRetrans, Column::BytesSent),
        segments: seen.count(Column::DataSegsOut),
        dsack_dups: seen.count(Column::DsackDups),
        reord_seen: seen.count(Column::ReordSeen),
        delivered_ce: seen.count(Column::DeliveredCe),
        timeouts: seen.count(Column::TotalRto),
        rwnd_limited: of_busy(Column::RwndLimitedUs),
        sndbuf_limited: of_busy(Column::SndbufLimitedUs),
        busy: busy_us.and_then(|us| busy(us, (window[1] - window[0]) as f64)),
        app_limited: app_limited(&deliveries),
        min_rtt_us: sent.last(Column::MinRttUs).map(|us| us as f64),
        rtt_p50_us: seen.median(Column::RttUs),
        rtt_p95_us: percentile::p95(&seen.values(Column::RttUs)),
        cwnd_p50: seen.median(Column::SndCwnd),
        snd_wnd_p50: seen.median(Column::SndWnd),
        delivery_rate_p50_bps: delivery_rate_bps(&deliveries),
        mss: seen.last(Column::SndMss),
        pmtu: seen.last(Column::Pmtu),
        options: seen.last(Column::Options),
        after_start: start::after_start(sent),
        series: None,
        received: None,
    }
}

/// A QUIC connection in the time that counts, with `headers` bytes of IP and UDP on each packet. A
/// packet of QUIC is never retransmitted, but its content is: a lost packet counts as a
/// retransmitted segment.
pub fn quic(sent: &Series, received: &Series, window: [i64; 2], headers: u32) -> FlowResult {
    let seen = Seen { sent, window };
    let datagrams: Vec<f64> = seen
        .values(Column::CwndBytes)
        .iter()
        .zip(seen.values(Column::MtuBytes))
        .map(|(cwnd, mtu)| cwnd / mtu.max(1.0))
        .collect();
    FlowResult {
        goodput_bps: goodput(received, None, window),
        retransmits: seen.count(Column::LostPackets),
        retransmitted: seen.ratio(Column::LostBytes, Column::BytesSent),
        segments: seen.count(Column::SentPackets),
        min_rtt_us: sent.last(Column::MinRttUs).map(|us| us as f64),
        rtt_p50_us: seen.median(Column::RttUs),
        rtt_p95_us: percentile::p95(&seen.values(Column::RttUs)),
        cwnd_p50: stats::median(&datagrams),
        pmtu: seen.last(Column::MtuBytes).map(|bytes| bytes + headers),
        ..FlowResult::default()
    }
}

/// Payload that arrived in the time that counts, bit/s.
///
/// The kernel counts payload as received when it is in order (`tcpi_bytes_received`, RFC 4898
/// tcpEStatsAppHCThruOctetsReceived). What arrived earlier, behind a lost segment, is counted at
/// once when that one arrives, and may exceed what the path carries: no more counts than the
/// segments of the time hold.
fn goodput(received: &Series, mss: Option<u64>, window: [i64; 2]) -> f64 {
    let bytes = received.increase(arrived(received), window).unwrap_or(0.0);
    let most = mss.and_then(|mss| segments_hold(received, mss, window));
    let bytes = most.map_or(bytes, |most| bytes.min(most));
    rate_bps(bytes, (window[1] - window[0]) as f64).unwrap_or(0.0)
}

/// The most payload that the data segments of a time hold (`tcpi_data_segs_in`, Linux 4.6). `None`
/// where the receiver does not count each: a network card that merges segments may hand them on as
/// one, which the whole connection shows.
fn segments_hold(received: &Series, mss: u64, window: [i64; 2]) -> Option<f64> {
    let all = received.last(Column::DataSegsIn)?.saturating_mul(mss);
    let each = received.increase(Column::DataSegsIn, window)?;
    (all >= received.last(arrived(received))?).then_some(each * mss as f64)
}

/// A sender in the time that counts.
struct Seen<'a> {
    sent: &'a Series,
    window: [i64; 2],
}

impl Seen<'_> {
    fn grown(&self, column: Column) -> Option<f64> {
        self.sent.increase(column, self.window)
    }

    fn count(&self, column: Column) -> Option<u64> {
        self.grown(column).map(|grown| grown.round() as u64)
    }

    fn ratio(&self, part: Column, whole: Column) -> Option<f64> {
        retransmitted(self.grown(part)?, self.grown(whole)?)
    }

    fn last(&self, column: Column) -> Option<u32> {
        self.sent.last(column).map(|value| value as u32)
    }

    fn values(&self, column: Column) -> Vec<f64> {
        let points = self.sent.points(column).into_iter();
        points
            .filter(|(at, _)| (self.window[0]..=self.window[1]).contains(at))
            .map(|(_, value)| value as f64)
            .collect()
    }

    fn deliveries(&self) -> Vec<Delivery> {
        let column = |column| self.sent.column(column).unwrap_or_default();
        let rates = column(Column::DeliveryRateBytesS);
        let limited = column(Column::DeliveryRateAppLimited);
        let samples = self.sent.at_us.iter().zip(rates.into_iter().zip(limited));
        let counted = samples.filter(|(at, _)| (self.window[0]..=self.window[1]).contains(at));
        let of = |(rate, limited): (Option<u64>, Option<u64>)| {
            Some(Delivery {
                rate_bytes_s: rate.filter(|rate| *rate > 0)? as f64,
                app_limited: limited? > 0,
            })
        };
        counted.filter_map(|(_, pair)| of(pair)).collect()
    }

    fn median(&self, column: Column) -> Option<f64> {
        stats::median(&self.values(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(column: Column) -> Series {
        let mut series = Series {
            at_us: vec![0, 1_000_000],
            ..Series::default()
        };
        series.push(column, vec![Some(0), Some(125_000)]);
        series
    }

    /// Observing a connection and measuring one had two definitions each.
    #[test]
    fn a_rate_that_the_application_limited_is_not_that_of_the_path() {
        let at = |rate_bytes_s, app_limited| Delivery {
            rate_bytes_s,
            app_limited,
        };
        let some = [
            at(10.0, true),
            at(100.0, false),
            at(300.0, false),
            at(20.0, true),
        ];
        assert_eq!(
            delivery_rate_bps(&some),
            Some(1600.0),
            "the median of 100 and 300 byte/s"
        );
        assert_eq!(app_limited(&some), Some(0.5));
        let all = [at(10.0, true), at(20.0, true)];
        assert_eq!(delivery_rate_bps(&all), Some(120.0));
        assert_eq!((app_limited(&[]), delivery_rate_bps(&[])), (None, None));
    }

    #[test]
    fn an_end_that_only_responds_sends_a_small_share_and_an_idle_one_none() {
        assert_eq!(sent_share(1.0, 99.0), Some(0.01));
        assert_eq!(sent_share(0.0, 0.0), None);
        assert_eq!(
            (pacing_used(9e6, 10e6), pacing_used(9e6, 0.0)),
            (Some(0.9), None)
        );
    }

    #[test]
    fn time_not_limited_by_window_or_buffer_is_the_congestion_windows() {
        assert!((cwnd_limited(0.25, 0.5) - 0.25).abs() < 1e-12);
        assert_eq!(cwnd_limited(0.7, 0.4), 0.0, "ticks may exceed the whole");
        assert_eq!(rtt_over_min(30e3, 20e3), Some(1.5));
        assert_eq!(rtt_over_min(30e3, 0.0), None);
    }

    /// The kernel shows a rate of 0 before it has one.
    #[test]
    fn before_the_first_delivery_there_is_no_rate_that_could_be_limited() {
        let mut series = Series {
            at_us: vec![0, 1000, 2000, 3000],
            ..Series::default()
        };
        let some = |values: [u64; 4]| values.map(Some).to_vec();
        series.push(Column::DeliveryRateBytesS, some([0, 0, 125, 125]));
        series.push(Column::DeliveryRateAppLimited, some([1, 1, 1, 0]));
        let result = tcp(&series, &Series::default(), [0, 3000]);
        assert_eq!(result.app_limited, Some(0.5));
        assert_eq!(result.delivery_rate_p50_bps, Some(1000.0));
    }

    /// A line of 512 kbit/s had a goodput of 0.556 Mbit/s: what had arrived before, behind a lost
    /// segment, was counted with the one that filled the gap.
    #[test]
    fn what_arrived_before_behind_a_lost_segment_is_no_goodput() {
        let sent = {
            let mut series = grown(Column::BytesSent);
            series.push(Column::SndMss, vec![Some(1000); 2]);
            series
        };
        let mut received = Series {
            at_us: vec![0, 1_000_000, 2_000_000],
            ..Series::default()
        };
        received.push(
            Column::BytesReceived,
            [30_000, 30_000, 124_000].map(Some).to_vec(),
        );
        let of = |segments: [u64; 3]| {
            let mut received = received.clone();
            received.push(Column::DataSegsIn, segments.map(Some).to_vec());
            tcp(&sent, &received, [1_000_000, 2_000_000]).goodput_bps
        };
        assert_eq!(of([30, 62, 125]), 504_000.0, "63 segments arrived");
        assert_eq!(of([30, 30, 200]), 752_000.0, "and not all of them were new");
        assert_eq!(of([2, 2, 9]), 752_000.0, "a card merged them");
    }

    /// Goodput was 0 where the receiver's kernel has no `TCP_INFO`.
    #[test]
    fn bytes_read_count_where_the_kernel_has_no_counter() {
        let sender = Series::default();
        for column in [Column::BytesReceived, Column::BytesRead] {
            let result = tcp(&sender, &grown(column), [0, 1_000_000]);
            assert_eq!(result.goodput_bps, 1e6, "{column}");
            // The sender's values are unknown.
            assert_eq!((result.retransmits, result.rtt_p50_us), (None, None));
            assert_eq!((result.rwnd_limited, result.busy), (None, None));
        }
    }
}
