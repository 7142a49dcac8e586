//! Time series of a sample in equal buckets, for charts.

use model::{
    counter,
    run::{self, FigureKind, FlowResult, Run, Sample, Series},
    twin::Course,
};

use crate::{
    buckets::{Column, Grid, mean, stepped, sum},
    figures::{self, added_us},
    flow, flows, over_time,
};

/// Default sampling interval, µs.
const SAMPLING_US: i64 = 10_000;

/// The columns of a sample, with a value for each bucket.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// First bucket, µs after the load started.
    pub from_us: i64,
    /// Length of a bucket, µs.
    pub dt_us: i64,
    /// Goodput of all flows, mean of the bucket, bit/s.
    pub goodput_bps: Column,
    /// Sum of the congestion windows, at the end of the bucket.
    pub window: Column,
    /// True if the windows are in bytes (QUIC), not in segments.
    pub window_is_bytes: bool,
    /// Smoothed RTT, mean of the flows, µs.
    pub rtt_us: Column,
    /// RTT above the smallest RTT of any flow of the sample, µs: queueing delay.
    pub queue_us: Column,
    /// Fastest probe sent in the bucket, µs.
    pub probe_low_us: Column,
    /// Slowest probe sent in the bucket, µs.
    pub probe_high_us: Column,
    /// Segments retransmitted in the bucket.
    pub retransmitted: Column,
}

/// A sample in at most about this many buckets.
pub fn of(sample: &Sample, buckets: usize) -> Timeline {
    let flows = flows_of(sample);
    let probes = probes(sample);
    let grid = grid(flows, &probes, buckets);
    let sent = || flows.iter().filter_map(|f| f.series.as_ref());
    let retransmitted = sent().filter_map(|sent| {
        let grown = sent.grown(flow::retransmissions(sent)?);
        Some(grid.growth(&grown, stepped))
    });
    let window = sent().filter_map(|sent| {
        let points = sent.points(flow::window(sent)?);
        Some(grid.fold(&values(&points, 1.0), |_, last| last))
    });
    let rtts = sent().map(|sent| {
        let points = sent.points(run::Column::RttUs);
        grid.fold(&values(&points, 1.0), |_, last| last)
    });
    let rtt_us = mean(rtts);
    let base_us = flows::smallest(flows, |f| f.min_rtt_us);
    let queued = |rtt: &Option<f64>| Some(added_us((*rtt)?, base_us?));
    Timeline {
        from_us: grid.from_us,
        dt_us: grid.dt_us,
        goodput_bps: goodput(flows, grid),
        window: sum(window),
        window_is_bytes: sent().any(|s| s.has(run::Column::CwndBytes)),
        queue_us: rtt_us.iter().map(queued).collect(),
        rtt_us,
        probe_low_us: grid.fold(&probes, f64::min),
        probe_high_us: grid.fold(&probes, f64::max),
        retransmitted: sum(retransmitted),
    }
}

/// Equal buckets over a sample, at most about this many.
pub fn grid_of(sample: &Sample, buckets: usize) -> Grid {
    grid(flows_of(sample), &probes(sample), buckets)
}

/// A sample over given buckets, which may be those of another sample of the same load. A column
/// without any value is empty.
pub fn course(sample: &Sample, grid: Grid) -> Course {
    let known = |column: Column| -> Column {
        let rounded = |v: Option<f64>| v.map(f64::round);
        match column.iter().any(Option::is_some) {
            true => column.into_iter().map(rounded).collect(),
            false => Vec::new(),
        }
    };
    Course {
        goodput_bps: known(goodput(flows_of(sample), grid)),
        probe_rtt_us: known(grid.medians(&probes(sample))),
    }
}

/// Returns true if a sample is the median of its repeats, by goodput (idle: by latency).
pub fn is_representative(run: &Run, sample: &Sample) -> bool {
    let value = |s: &Sample| {
        figures::value(s, FigureKind::Goodput)
            .or_else(|| figures::value(s, FigureKind::RttP50))
            .unwrap_or(0.0)
    };
    let valid = run.valid(&sample.key);
    let mut all: Vec<(f64, u32)> = valid.map(|s| (value(s), s.number)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let middle = all.get(all.len().saturating_sub(1) / 2);
    middle.is_some_and(|middle| middle.1 == sample.number)
}

fn flows_of(sample: &Sample) -> &[FlowResult] {
    sample.tcp.as_ref().map_or(&[][..], |t| &t.flows)
}

/// Goodput of all flows, mean of each bucket, bit/s.
fn goodput(flows: &[FlowResult], grid: Grid) -> Column {
    let received = flows.iter().filter_map(|f| f.received.as_ref());
    let bytes = sum(received.map(|r| grid.growth(&r.grown(flow::arrived(r)), counter::at)));
    let rate = |bytes: Option<f64>| flow::rate_bps(bytes?, grid.dt_us as f64);
    bytes.into_iter().map(rate).collect()
}

/// Returns the send time of each answered probe, and its RTT, µs.
fn probes(sample: &Sample) -> Vec<(i64, f64)> {
    let series = sample.probes.as_ref().and_then(|p| p.series.as_ref());
    let points = series.map(|s| s.points(run::Column::RttNs));
    values(&points.unwrap_or_default(), 1e-3)
}

fn grid(flows: &[FlowResult], probes: &[(i64, f64)], buckets: usize) -> Grid {
    let sampled = flows
        .iter()
        .flat_map(|f| [&f.series, &f.received])
        .flatten()
        .flat_map(|s| s.at_us.first().into_iter().chain(s.at_us.last()))
        .copied();
    let probed = probes.first().into_iter().chain(probes.last()).map(|p| p.0);
    let all: Vec<i64> = sampled.chain(probed).collect();
    let from = all.iter().min().copied().unwrap_or(0);
    let to = all.iter().max().copied().unwrap_or(0);
    let apart = flows.iter().filter_map(|f| interval_us(f.series.as_ref()?));
    Grid::over(from, to, buckets, apart.max().unwrap_or(SAMPLING_US))
}

/// Sampling interval in multiples of the default.
fn interval_us(series: &Series) -> Option<i64> {
    let times = over_time::interval_us(series)? / SAMPLING_US as f64;
    Some(times.round().max(1.0) as i64 * SAMPLING_US)
}

fn values(points: &[(i64, u64)], scale: f64) -> Vec<(i64, f64)> {
    points.iter().map(|&(t, v)| (t, v as f64 * scale)).collect()
}
