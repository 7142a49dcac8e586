//! The bucket of a shaper, from what TCP gets through beyond the rate.
//!
//! A shaper that was idle for a moment sends the bytes of its bucket at once (`burst` of tbf and
//! htb). bbr takes the rate of that for the path's, fills the queue and loses packets, which a path
//! of a rate and a queue does not do.

use analysis::view::{DirectionView, Load};
use model::{
    run::{Column, FlowResult},
    wire::Wire,
};

/// Error of the rate, as a share: less than this beyond it is not a bucket's.
const RATE_ERROR: f64 = 0.005;
/// Flows that must show it: this share of the most that one of them does. A rate that changes lets
/// through any amount, and a flow that loses a packet early hardly any.
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
    let each: Vec<f64> = loads
        .iter()
        .flat_map(|load| of_load(dir, load, wire, rate_bps / 8.0))
        .collect();
    let most = each.iter().copied().reduce(f64::max)?;
    let alike = each.iter().filter(|bytes| **bytes >= ALIKE * most).count() >= FLOWS;
    let rate = rate_bps / 8.0;
    let least = LEAST.max(rate * (LEAST_S + JITTERS * jitter_s));
    (alike && (least..MOST_S * rate).contains(&most)).then_some(most)
}

/// What each flow of a load got through beyond a rate in bytes/s, bytes.
fn of_load(dir: &DirectionView<'_>, load: &Load, wire: Wire, rate: f64) -> Vec<f64> {
    let payload = load.mss_bytes();
    let packet = payload + f64::from(dir.view.family.tcp_headers());
    let on_wire = wire.bytes(packet) / payload;
    let rate = rate * (1.0 + RATE_ERROR) / on_wire;
    let samples = dir.samples_of(load).into_iter();
    let flows = samples
        .filter_map(|s| s.tcp.as_ref())
        .flat_map(|t| &t.flows);
    let each = flows.filter_map(|flow| beyond(flow, rate));
    each.map(|bytes| bytes * on_wire).collect()
}

/// The most payload that a receiver got beyond a rate, in bytes/s, before the first packet out of
/// order: from then on, bytes that had arrived before count together. `None` without its samples.
fn beyond(flow: &FlowResult, rate: f64) -> Option<f64> {
    let series = flow.received.as_ref()?;
    let received = series.column(Column::BytesReceived)?;
    let disordered = series.column(Column::RcvOoopack)?;
    let times = series.at_us.iter();
    let in_order = times.zip(received.iter().zip(&disordered));
    let in_order = in_order.take_while(|(_, (_, disordered))| disordered.is_none_or(|n| n == 0));
    let points =
        in_order.filter_map(|(at_us, (bytes, _))| Some((*at_us as f64 / 1e6, (*bytes)? as f64)));
    let (mut last, mut lacks, mut most) = (None, 0.0_f64, 0.0_f64);
    for (at_s, bytes) in points {
        if let Some((before_s, before)) = last.replace((at_s, bytes)) {
            lacks = (lacks + bytes - before - rate * (at_s - before_s)).max(0.0);
            most = most.max(lacks);
        }
    }
    Some(most)
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
    /// samples every 10 ms. `out_of_order` from a time on.
    fn flow(rate: f64, bucket: f64, out_of_order_s: f64) -> FlowResult {
        let (mut tokens, mut queue, mut received, mut sent) = (bucket, 0.0, 0.0, 0.0);
        let (mut at_us, mut bytes, mut disordered) = (Vec::new(), Vec::new(), Vec::new());
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
            if step % (SAMPLE_S / STEP_S) as u64 == 37 {
                at_us.push((at_s * 1e6) as i64);
                bytes.push(Some(received as u64));
                disordered.push(Some(u64::from(at_s >= out_of_order_s)));
            }
        }
        let mut series = Series {
            at_us,
            ..Series::default()
        };
        series.push(Column::BytesReceived, bytes);
        series.push(Column::RcvOoopack, disordered);
        FlowResult {
            received: Some(series),
            ..FlowResult::default()
        }
    }

    #[test]
    fn a_flow_shows_most_of_a_bucket_and_none_where_there_is_none() {
        for rate in [1e6, 2.5e6, 6e6] {
            for bucket in [8e3, 16e3, 64e3] {
                let seen = beyond(&flow(rate, bucket, 9.0), rate).unwrap();
                assert!(
                    (0.5..1.01).contains(&(seen / bucket)),
                    "{rate} {bucket}: {seen}"
                );
            }
            let seen = beyond(&flow(rate, 0.0, 9.0), rate).unwrap();
            assert!(seen < 0.1 * LEAST, "{rate}: {seen}");
        }
    }

    #[test]
    fn what_comes_after_a_packet_out_of_order_does_not_count() {
        assert_eq!(beyond(&flow(2.5e6, 16e3, 0.0), 2.5e6), Some(0.0));
        assert_eq!(beyond(&FlowResult::default(), 2.5e6), None);
    }
}
