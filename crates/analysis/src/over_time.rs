//! Time series of a sample in intervals.

use model::run::{FlowResult, Sample, Series};

use crate::flow;

/// Goodput of each flow from one time to another, bit/s; `None` if it is not known of all.
pub fn goodputs_bps(flows: &[FlowResult], window_us: [i64; 2]) -> Option<Vec<f64>> {
    let span_us = (window_us[1] - window_us[0]) as f64;
    let goodput = |flow: &FlowResult| {
        let received = flow.received.as_ref()?;
        let bytes = received.increase(flow::arrived(received), window_us)?;
        flow::rate_bps(bytes, span_us)
    };
    flows.iter().map(goodput).collect()
}

/// The mean of some values of a piece; `None` without any.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::mean(&values.collect::<Vec<_>>())
}

/// Returns the usual interval between samples of a series, µs: the median.
pub fn interval_us(series: &Series) -> Option<f64> {
    let pairs = series.at_us.windows(2);
    let apart: Vec<f64> = pairs.map(|two| (two[1] - two[0]) as f64).collect();
    stats::median(&apart)
}

/// Equal parts of a load, of which the slowest tenth counts.
const PARTS: i64 = 20;
/// Shortest of them, µs: several samples.
const SHORTEST_US: i64 = 100_000;

/// Goodput of the slowest tenth of equal parts of the time that counts, all flows together, bit/s;
/// `None` if the load is too short or was not sampled.
pub fn slowest_bps(sample: &Sample) -> Option<f64> {
    let tcp = sample.tcp.as_ref()?;
    let [from, to] = tcp.window_us;
    let part_us = (to - from) / PARTS;
    if part_us < SHORTEST_US {
        return None;
    }
    let part = |i: i64| {
        let start = from + i * part_us;
        let each = goodputs_bps(&tcp.flows, [start, start + part_us])?;
        Some(each.iter().sum::<f64>())
    };
    let parts: Option<Vec<f64>> = (0..PARTS).map(part).collect();
    stats::percentile(&parts?, 10.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::{
        net::{Direction, IpVersion, Layer},
        run::{Column, Key, StepKind, Tcp},
    };

    use super::*;

    /// Two seconds of which the middle one has half of the rate: 1 Mbit/s.
    fn received(slow: bool) -> Sample {
        let mut bytes = 0;
        let grown = (0..=200).map(|i| {
            let at = bytes;
            bytes += if slow && (50..150).contains(&i) {
                1250
            } else {
                2500
            };
            Some(at)
        });
        let mut series = Series {
            at_us: (0..=200).map(|i| i * 10_000).collect(),
            ..Series::default()
        };
        series.push(Column::BytesReceived, grown.collect());
        let flow = FlowResult {
            received: Some(series),
            ..FlowResult::default()
        };
        let key = Key {
            step: StepKind::Tcp,
            layer: Layer::Underlay,
            family: IpVersion::V4,
            direction: Some(Direction::Down),
            bidirectional: false,
            flows: Some(1),
            cc: None,
            rate_bps: None,
            bytes: None,
        };
        Sample {
            tcp: Some(Tcp {
                window_us: [0, 2_000_000],
                flows: vec![flow],
                ..Tcp::default()
            }),
            ..Sample::new(key, 0)
        }
    }

    #[test]
    fn half_of_the_rate_half_of_the_time_is_that_of_the_slowest_tenth() {
        let of = |slow| slowest_bps(&received(slow)).unwrap();
        assert!((of(false) / 2e6 - 1.0).abs() < 1e-6, "{}", of(false));
        assert!((of(true) / 1e6 - 1.0).abs() < 1e-6, "{}", of(true));
    }
}
