//! The bucket of a shaper, from what a receiver gets beyond the rate.
//!
//! A shaper that was idle for a moment sends the bytes of its bucket at once (`burst` of tbf and
//! htb; htb also lets a segment of 64 kB pass that its device will split). bbr takes the rate of
//! that for the path's, fills the queue and loses packets, which a path of a rate and a queue does
//! not do.

use analysis::view::{DirectionView, Load};
use model::{
    run::{Column, FlowResult},
    wire::Wire,
};

use super::payload::on_wire;
use crate::tokens::lacks;

/// Error of the rate, as a share: less than this beyond it is not a bucket's.
const RATE_ERROR: f64 = 0.005;
/// Percentage of the flows that show no more than the bucket: the others, if any, were held up by
/// a host and came together.
const SHOWN: f64 = 75.0;
/// Flows that must show at least this share of it. A rate that changes lets through any amount.
const FLOWS: usize = 3;
const ALIKE: f64 = 0.5;
/// Smallest bucket that differs from none, bytes and time at the rate: a shaper without one sends
/// a train of a few packets.
const LEAST: f64 = 4_600.0;
const LEAST_S: f64 = 0.5e-3;
/// Largest one, time at the rate: usual are 1 to 50 ms.
const MOST_S: f64 = 0.1;
/// Half widths of a uniform delay variation that may bring as much together.
const JITTERS: f64 = 4.0;

/// Size of the bucket in bytes with Ethernet headers; `None` if the loads of one flow show none.
/// `rate_bps` is that of the line, with these headers. Samples every 10 ms show most of it: of 16
/// kB, 13 to 15.5 on a lab path and between real hosts.
pub(super) fn bucket(
    dir: &DirectionView<'_>,
    wire: Wire,
    rate_bps: f64,
    jitter_s: f64,
) -> Option<f64> {
    // Without UDP above the capacity the rate is that of TCP, and nothing can be beyond it.
    dir.sweep()?;
    let loads = dir.single_loads();
    // A busy host misses datagrams of the overload, which TCP repeats.
    let by_tcp = loads.iter().map(|load| wire.rate(dir.packets_bps(load)));
    let rate = by_tcp.fold(rate_bps, f64::max) / 8.0;
    let each = loads.iter().flat_map(|load| of_load(dir, load, wire, rate));
    let each: Vec<f64> = each.collect();
    let size = stats::percentile(&each, SHOWN)?;
    let alike = each.iter().filter(|bytes| **bytes >= ALIKE * size).count() >= FLOWS;
    let least = LEAST.max(rate * (LEAST_S + JITTERS * jitter_s));
    (alike && (least..MOST_S * rate).contains(&size)).then_some(size)
}

/// What each flow of a load got through beyond a rate in bytes/s, bytes.
fn of_load(dir: &DirectionView<'_>, load: &Load, wire: Wire, rate: f64) -> Vec<f64> {
    let (payload, on_wire) = (load.mss_bytes(), on_wire(dir, load, wire));
    let rate = rate * (1.0 + RATE_ERROR) / on_wire;
    let samples = dir.samples_of(load).into_iter();
    let flows = samples
        .filter_map(|s| s.tcp.as_ref())
        .flat_map(|t| &t.flows);
    let each = flows.filter_map(|flow| beyond(flow, rate, payload));
    each.map(|bytes| bytes * on_wire).collect()
}

/// The most payload that a receiver got beyond a rate, in bytes/s: by its full segments, in order
/// or not, as the bytes of those behind a gap count together when it is filled. `None` without its
/// samples.
fn beyond(flow: &FlowResult, rate: f64, payload: f64) -> Option<f64> {
    let series = flow.received.as_ref()?;
    let segments = series.column(Column::DataSegsIn)?;
    let times = series.at_us.iter().map(|us| *us as f64 / 1e6);
    let points = times
        .zip(segments)
        .filter_map(|(at_s, n)| Some((at_s, n? as f64 * payload)));
    Some(lacks(points, rate).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use model::run::Series;

    const TRIP_S: f64 = 0.03;
    const SAMPLE_S: f64 = 0.01;
    const STEP_S: f64 = 1e-4;
    const MSS: f64 = 1448.0;

    /// A receiver of a flow in slow start behind a shaper of a rate and a bucket, in bytes, with
    /// samples every 10 ms, the first after so many steps.
    fn flow(rate: f64, bucket: f64, first: u64) -> FlowResult {
        let (mut tokens, mut queue, mut received, mut sent) = (bucket, 0.0, 0.0, 0.0);
        let (mut at_us, mut segments) = (Vec::new(), Vec::new());
        for step in 0..(0.6 / STEP_S) as u64 {
            let at_s = step as f64 * STEP_S;
            // A window at the start of each round trip, the double of the last one.
            let window = 10.0 * MSS * f64::from(1 << (at_s / TRIP_S) as u32);
            if sent < window {
                queue += window - sent;
                sent = window;
            }
            tokens = (tokens + rate * STEP_S).min(bucket.max(rate * STEP_S));
            let out = queue.min(tokens);
            (queue, tokens, received) = (queue - out, tokens - out, received + out);
            if step % (SAMPLE_S / STEP_S) as u64 == first {
                at_us.push((at_s * 1e6) as i64);
                segments.push(Some((received / MSS) as u64));
            }
        }
        let mut series = Series {
            at_us,
            ..Series::default()
        };
        series.push(Column::DataSegsIn, segments);
        FlowResult {
            received: Some(series),
            ..FlowResult::default()
        }
    }

    /// The most of flows that are sampled at other times after a burst.
    fn seen(rate: f64, bucket: f64) -> f64 {
        let flows = [7, 32, 57, 82].map(|first| flow(rate, bucket, first));
        let each = flows.map(|flow| beyond(&flow, rate, MSS).unwrap());
        each.into_iter().fold(0.0, f64::max)
    }

    #[test]
    fn flows_show_most_of_a_bucket_and_none_where_there_is_none() {
        for rate in [1e6, 2.5e6, 6e6] {
            // A smaller one is over between two samples.
            let sizes = [8e3, 16e3, 64e3].into_iter();
            for bucket in sizes.filter(|bytes| *bytes >= 6e-3 * rate) {
                let seen = seen(rate, bucket);
                assert!(
                    (0.5..1.01).contains(&(seen / bucket)),
                    "{rate} {bucket}: {seen}"
                );
            }
            let seen = seen(rate, 0.0);
            assert!(seen < 0.5 * LEAST, "{rate}: {seen}");
        }
        assert_eq!(beyond(&FlowResult::default(), 1e6, MSS), None);
    }
}
