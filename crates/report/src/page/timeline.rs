//! Timelines of steps: goodput, congestion window, RTT, retransmissions.

use analysis::{
    buckets::Column,
    figures,
    timeline::{self, is_representative},
    view::View,
};
use maud::{Markup, html};
use model::run::{FigureKind, Run, Sample};

use super::{
    charts::{Charts, Timeline},
    layers::several_families,
    words::{Words, label},
};
use crate::number::{percent, short};

/// Buckets of representative steps, and of the others if space permits.
const FULL: usize = 400;
const SHORT: usize = 100;
/// Total buckets of the other steps, so that few steps of long runs are omitted.
const OTHERS: usize = 12_000;

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
            drawn(s, middle, buckets, words, families)
        })
        .collect();
    Some(html! {
        p.note { (words.label(label::time_note())) }
        div.timeline {
            noscript { p.warning { (words.label(label::time_noscript())) } }
            div.controls hidden {
                label { (words.label(label::time_step())) " " select.step {} }
                div.buttons {
                    button type="button" data-zoom="in" { (words.label(label::zoom_in())) }
                    button type="button" data-zoom="out" { (words.label(label::zoom_out())) }
                    button type="button" data-zoom="all" { (words.label(label::zoom_all())) }
                }
            }
            div.panels tabindex="0" role="group" aria-label=(words.label(label::time_keys())) hidden {}
            p.keys hidden { (words.label(label::time_keys())) }
            output.readout aria-live="polite" {}
        }
        details.values {
            summary { (words.label(label::time_table())) }
            (table(&shown, families, words))
        }
    })
}

/// The step drawn initially: of the load by which a direction is judged, in the tunnel if there is
/// one.
fn first(run: &Run, samples: &[&Sample]) -> Option<u32> {
    let judged = View::new(run)
        .into_iter()
        .flat_map(|view| view.directions());
    let plain = judged.filter_map(|dir| {
        let load = dir.default_load()?;
        let mut samples = dir.samples_of(&load).into_iter();
        samples.find(|s| is_representative(run, s))
    });
    plain
        .map(|s| s.number)
        .find(|number| samples.iter().any(|s| s.number == *number))
        .or(samples.first().map(|s| s.number))
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

/// The steps as a table, as an alternative to the charts.
fn table(samples: &[&Sample], families: bool, words: &Words) -> Markup {
    let ms = |us: Option<f64>| us.map(|us| short(us / 1e3)).unwrap_or_default();
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label(label::time_table())) {
            table.figures {
                thead { tr {
                    th.number scope="col" { "#" }
                    th scope="col" { (words.label(label::what())) }
                    th.number scope="col" { (words.label(label::panel_goodput())) " (Mbit/s)" }
                    th.number scope="col" { (words.label(label::panel_retransmitted())) }
                    th.number scope="col" { (words.label(label::series_rtt())) " p50 (ms)" }
                    th.number scope="col" { (words.label(label::series_probe())) " p50 (ms)" }
                    th.number scope="col" { (words.label(label::series_probe())) " p95 (ms)" }
                } }
                tbody { @for s in samples { tr {
                    td.number { (s.number) }
                    th scope="row" { (words.layer(s.key.layer)) " · " (words.key(&s.key, families))
                        @if !s.valid { " · " (words.label(label::invalid())) } }
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

fn drawn(sample: &Sample, middle: bool, buckets: usize, words: &Words, families: bool) -> Timeline {
    let columns = timeline::of(sample, buckets);
    let ms = |column| scaled(column, 1e-3);
    let window_unit = if columns.window_is_bytes { 1e-3 } else { 1.0 };
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
        from_ms: columns.from_us as f64 / 1e3,
        dt_ms: columns.dt_us as f64 / 1e3,
        window_ms: sample
            .tcp
            .as_ref()
            .map(|t| t.window_us.map(|us| us as f64 / 1e3)),
        goodput: scaled(columns.goodput_bps, 1e-6),
        cwnd: scaled(columns.window, window_unit),
        cwnd_kb: columns.window_is_bytes,
        rtt: ms(columns.rtt_us),
        queue: ms(columns.queue_us),
        probe_low: ms(columns.probe_low_us),
        probe_high: ms(columns.probe_high_us),
        retransmitted: scaled(columns.retransmitted, 1.0),
    }
}

/// A column in the unit of the page, rounded.
fn scaled(column: Column, unit: f64) -> Column {
    let value = |v: Option<f64>| v.map(|v| rounded(v * unit));
    column.into_iter().map(value).collect()
}

/// A value rounded to three significant digits and at most two decimals.
fn rounded(value: f64) -> f64 {
    let scale = match value.abs() {
        v if v >= 100.0 => 1.0,
        v if v >= 10.0 => 10.0,
        _ => 100.0,
    };
    (value * scale).round() / scale
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
        name.push_str(&format!(" ({})", words.label(label::invalid())));
    }
    name
}
