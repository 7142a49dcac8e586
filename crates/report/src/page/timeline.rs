//! Timelines of steps: goodput, congestion window, RTT, retransmissions.

use analysis::{figures, flow, over_time};
use maud::{Markup, html};
use model::run::{self, FigureKind, FlowResult, Run, Sample, Series, StepKind};

use super::{
    buckets::{Grid, even, mean, rounded, stepped, sum, tidy},
    charts::{Charts, Timeline},
    layers::several_families,
    words::Words,
};
use crate::number::{percent, short};

/// Buckets of representative steps, and of the others if space permits.
const FULL: usize = 400;
const SHORT: usize = 100;
/// Total buckets of the other steps, so that few steps of long runs are omitted.
const OTHERS: usize = 12_000;

/// Default sampling interval, µs.
const SAMPLING_US: i64 = 10_000;

pub(super) fn html(run: &Run, words: &Words, charts: &mut Charts) -> Option<Markup> {
    let families = several_families(run);
    let shown: Vec<&Sample> = run.samples.iter().filter(|s| has_series(s)).collect();
    if shown.is_empty() {
        return None;
    }
    charts.start = first(run, &shown);
    let others = (OTHERS / shown.len()).min(SHORT);
    charts.timelines = shown
        .iter()
        .map(|s| {
            let middle = is_representative(run, s);
            let buckets = if middle { FULL } else { others };
            timeline(s, middle, buckets, words, families)
        })
        .collect();
    Some(html! {
        p.note { (words.label("time-note")) }
        div.timeline {
            noscript { p.warning { (words.label("time-noscript")) } }
            div.controls hidden {
                label { (words.label("time-step")) " " select.step {} }
                div.buttons {
                    button type="button" data-zoom="in" { (words.label("zoom-in")) }
                    button type="button" data-zoom="out" { (words.label("zoom-out")) }
                    button type="button" data-zoom="all" { (words.label("zoom-all")) }
                }
            }
            div.panels tabindex="0" role="group" aria-label=(words.label("time-keys")) hidden {}
            p.keys hidden { (words.label("time-keys")) }
            output.readout aria-live="polite" {}
        }
        details.values {
            summary { (words.label("time-table")) }
            (table(&shown, families, words))
        }
    })
}

/// The step drawn initially: plain TCP in the tunnel, if there is one.
fn first(run: &Run, samples: &[&Sample]) -> Option<u32> {
    let tcp = samples.iter().filter(|s| {
        s.key.step == StepKind::Tcp && !s.key.bidirectional && s.valid && is_representative(run, s)
    });
    let plain = tcp.min_by_key(|s| {
        let cubic = s.key.cc.as_deref() != Some("cubic");
        (
            std::cmp::Reverse(s.key.layer),
            s.key.flows,
            s.key.direction,
            cubic,
        )
    });
    plain.or(samples.first()).map(|s| s.number)
}

fn has_series(sample: &Sample) -> bool {
    let tcp = sample.tcp.as_ref();
    let flows = tcp.is_some_and(|t| {
        t.flows
            .iter()
            .any(|f| f.series.is_some() || f.received.is_some())
    });
    flows || sample.probes.as_ref().is_some_and(|p| p.series.is_some())
}

/// Whether a sample is the median of its repeats, by goodput (idle: by latency).
fn is_representative(run: &Run, sample: &Sample) -> bool {
    let value = |s: &Sample| {
        figures::value(s, FigureKind::Goodput)
            .or_else(|| figures::value(s, FigureKind::RttP50))
            .unwrap_or(0.0)
    };
    let mut all: Vec<(f64, u32)> = run
        .valid(&sample.key)
        .map(|s| (value(s), s.number))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.get(all.len().saturating_sub(1) / 2)
        .is_some_and(|middle| middle.1 == sample.number)
}

/// The steps as a table, as an alternative to the charts.
fn table(samples: &[&Sample], families: bool, words: &Words) -> Markup {
    let ms = |us: Option<f64>| us.map(|us| short(us / 1e3)).unwrap_or_default();
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label("time-table")) {
            table.figures {
                thead { tr {
                    th.number scope="col" { "#" }
                    th scope="col" { (words.label("what")) }
                    th.number scope="col" { (words.label("panel-goodput")) " (Mbit/s)" }
                    th.number scope="col" { (words.label("panel-retransmitted")) }
                    th.number scope="col" { (words.label("series-rtt")) " p50 (ms)" }
                    th.number scope="col" { (words.label("series-probe")) " p50 (ms)" }
                    th.number scope="col" { (words.label("series-probe")) " p95 (ms)" }
                } }
                tbody { @for s in samples { tr {
                    td.number { (s.number) }
                    th scope="row" { (words.layer(s.key.layer)) " · " (words.key(&s.key, families))
                        @if !s.valid { " · " (words.label("invalid")) } }
                    td.number { @if let Some(bps) = figures::value(s, FigureKind::Goodput) { (short(bps / 1e6)) } }
                    td.number { (figures::value(s, FigureKind::Retransmitted).map(percent).unwrap_or_default()) }
                    td.number { (ms(figures::value(s, FigureKind::TcpRttP50))) }
                    td.number { (ms(figures::value(s, FigureKind::RttP50))) }
                    td.number { (ms(figures::value(s, FigureKind::RttP95))) }
                } } }
            }
        }
    }
}

fn timeline(
    sample: &Sample,
    middle: bool,
    buckets: usize,
    words: &Words,
    families: bool,
) -> Timeline {
    let flows = sample.tcp.as_ref().map_or(&[][..], |t| &t.flows);
    let probes: Vec<(i64, f64)> = sample
        .probes
        .as_ref()
        .and_then(|p| p.series.as_ref())
        .map(|s| s.points(run::Column::RttNs))
        .unwrap_or_default()
        .into_iter()
        .map(|(at, ns)| (at, ns as f64 / 1e6))
        .collect();
    let grid = grid(flows, &probes, buckets);
    let goodput = sum(flows.iter().filter_map(|f| {
        let received = f.received.as_ref()?;
        let received = received.points(flow::arrived(received));
        Some(grid.growth(&received, even))
    }));
    let resent = sum(flows.iter().filter_map(|f| {
        let sent = f.series.as_ref()?;
        let resent = sent.points(flow::retransmissions(sent)?);
        Some(grid.growth(&resent, stepped))
    }));
    let cwnd_kb = flows
        .iter()
        .filter_map(|f| f.series.as_ref())
        .any(|s| s.has(run::Column::CwndBytes));
    let cwnd = sum(flows.iter().filter_map(|f| {
        let sent = f.series.as_ref()?;
        let points = sent.points(flow::window(sent)?);
        let scale = if cwnd_kb { 1e-3 } else { 1.0 };
        Some(grid.fold(&scaled(&points, scale), |_, last| last))
    }));
    let rtt = mean(flows.iter().filter_map(|f| {
        let points = f.series.as_ref()?.points(run::Column::RttUs);
        Some(grid.fold(&scaled(&points, 1e-3), |_, last| last))
    }));
    let base = flows
        .iter()
        .filter_map(|f| f.min_rtt_us)
        .reduce(f64::min)
        .map(|us| us / 1e3);
    let queue = rtt
        .iter()
        .map(|v| Some((v.as_ref()? - base?).max(0.0)))
        .collect();
    Timeline {
        n: sample.number,
        rank: (middle, std::cmp::Reverse(sample.number)),
        middle,
        group: format!(
            "{} · {}",
            words.layer(sample.key.layer),
            words.key(&sample.key, families)
        ),
        name: name(sample, words),
        from_ms: grid.from_us as f64 / 1e3,
        dt_ms: grid.dt_us as f64 / 1e3,
        window_ms: sample
            .tcp
            .as_ref()
            .map(|t| t.window_us.map(|us| us as f64 / 1e3)),
        goodput: goodput
            .into_iter()
            .map(|bytes| bytes.map(|b| rounded(b * 8.0 / grid.dt_us as f64)))
            .collect(),
        cwnd: tidy(cwnd),
        cwnd_kb,
        rtt: tidy(rtt),
        queue: tidy(queue),
        probe_low: tidy(grid.fold(&probes, f64::min)),
        probe_high: tidy(grid.fold(&probes, f64::max)),
        retransmitted: tidy(resent),
    }
}

fn name(sample: &Sample, words: &Words) -> String {
    let what = match (
        figures::value(sample, FigureKind::Goodput),
        figures::value(sample, FigureKind::RttP50),
    ) {
        (Some(bps), _) => format!("{} Mbit/s", short(bps / 1e6)),
        (None, Some(us)) => format!("{} ms", short(us / 1e3)),
        (None, None) => String::new(),
    };
    let mut name = format!("#{} {what}", sample.number);
    if !sample.valid {
        name.push_str(&format!(" ({})", words.label("invalid")));
    }
    name
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

fn scaled(points: &[(i64, u64)], scale: f64) -> Vec<(i64, f64)> {
    points.iter().map(|&(t, v)| (t, v as f64 * scale)).collect()
}
