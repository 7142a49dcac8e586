//! Time series of the loads of a computed Run, which has none of its own.

use model::run::{Column, FlowResult, Run, Sample, Series};

/// Sampling interval, µs.
const SAMPLING_US: i64 = 10_000;
/// Time of idle probes before the load, µs.
const IDLE_US: i64 = 500_000;

/// Adds the series of TCP loads: each flow receives at its goodput from the start, and each probe
/// has the median RTT of its sample.
pub fn with_series(run: &mut Run) {
    for sample in &mut run.samples {
        add(sample);
    }
}

fn add(sample: &mut Sample) {
    let Some(tcp) = &mut sample.tcp else { return };
    let [_, to_us] = tcp.window_us;
    for flow in &mut tcp.flows {
        flow.received = Some(received(flow, to_us));
    }
    let Some(probes) = &mut sample.probes else {
        return;
    };
    let at_us: Vec<i64> = times(-IDLE_US, to_us).collect();
    let rtt = probes.p50_us.map(|us| (us * 1e3) as u64);
    let mut series = Series {
        at_us,
        ..Series::default()
    };
    series.push(Column::RttNs, vec![rtt; series.at_us.len()]);
    probes.series = Some(series);
}

fn received(flow: &FlowResult, to_us: i64) -> Series {
    let mut series = Series {
        at_us: times(0, to_us).collect(),
        ..Series::default()
    };
    let bytes = |us: &i64| Some((flow.goodput_bps * *us as f64 / 8e6) as u64);
    series.push(
        Column::BytesReceived,
        series.at_us.iter().map(bytes).collect(),
    );
    series
}

fn times(from_us: i64, to_us: i64) -> impl Iterator<Item = i64> {
    (from_us / SAMPLING_US..=to_us / SAMPLING_US).map(|n| n * SAMPLING_US)
}
