//! Baseline and tunnel side by side: every figure with its interval.

use maud::{Markup, html};
use model::{
    net::Layer,
    run::{Figure, FigureKind, Pooled, Range, Ratio, Run},
    text::Text,
};

use super::words::{Rendered, Words, label};
use crate::{
    figures::{FigureRow, FigureTable, tables},
    number::short,
    printed::printed,
};

/// Kinds that are shown directly; the others are in a collapsed section.
const FIRST: [FigureKind; 4] = [
    FigureKind::Goodput,
    FigureKind::RttP95,
    FigureKind::Retransmitted,
    FigureKind::Capacity,
];
/// Size of the inline chart of a row.
const WIDTH: f64 = 150.0;
const HEIGHT: f64 = 26.0;
const MARGIN: f64 = 6.0;

/// Key of the heading, which depends on the number of layers.
pub(super) fn title(run: &Run) -> Text {
    if both(run) {
        label::layers_title()
    } else {
        label::figures_title()
    }
}

fn both(run: &Run) -> bool {
    let has = |layer| run.figures.iter().any(|f| f.key.layer == layer);
    has(Layer::Tunnel) && has(Layer::Underlay)
}

pub(super) fn html(run: &Run, words: &Words) -> Option<Markup> {
    let tables = tables(run);
    let families = several_families(run);
    let (first, other): (Vec<_>, Vec<_>) = tables.iter().partition(|t| FIRST.contains(&t.kind));
    (!tables.is_empty()).then(|| {
        html! {
            @if both(run) { (legend(words)) }
            p.note { (words.label(label::figures_note())) }
            @for kind in FIRST {
                @for table in first.iter().filter(|t| t.kind == kind) { (figures(table, families, words)) }
            }
            @if !other.is_empty() {
                details.more {
                    summary { (words.label(label::figures_all())) }
                    @for table in &other { (figures(table, families, words)) }
                }
            }
        }
    })
}

/// Returns true if names need the address family.
pub(super) fn several_families(run: &Run) -> bool {
    let first = run.samples.first().map(|s| s.key.family);
    run.samples.iter().any(|s| Some(s.key.family) != first)
}

fn legend(words: &Words) -> Markup {
    html! {
        p.legend {
            span { (mark(Layer::Underlay)) (words.layer(Layer::Underlay)) }
            span { (mark(Layer::Tunnel)) (words.layer(Layer::Tunnel)) }
        }
    }
}

fn mark(layer: Layer) -> Markup {
    html! {
        svg.mark aria-hidden="true" width="28" height="14" viewBox="0 0 28 14" { (point(layer, 14.0, 7.0, Some((2.0, 26.0)))) }
    }
}

fn figures(table: &FigureTable<'_>, families: bool, words: &Words) -> Markup {
    let unit = printed(table.kind.unit()).symbol;
    let name = words.render(&Text::fixed(table.kind.text())).text;
    let most = scale(table);
    let compared = table.layers.len() == 2;
    html! {
        div.wide tabindex="0" role="group" aria-label=(name) {
            table.figures data-kind=(table.kind) {
                caption { (model::text::capital(&name)) @if let Some(unit) = unit { span.unit { (words.value(&unit)) } } }
                thead { tr {
                    th scope="col" { (words.label(label::what())) }
                    @for layer in &table.layers { th.number scope="col" { (words.layer(*layer)) } }
                    @if compared { th.number scope="col" { (words.label(label::ratio())) } }
                    th.drawn scope="col" { span.hidden { (words.label(label::drawn())) } }
                } }
                tbody { @for row in &table.rows { (line(row, table, most, families, words)) } }
            }
        }
    }
}

/// Value at the right edge of the inline charts. A much wider interval does not compress the
/// others: it is cut off at the edge with an arrow.
fn scale(table: &FigureTable<'_>) -> f64 {
    let figures = || table.rows.iter().flat_map(|r| r.figures.iter().flatten());
    let highest = |of: fn(&Figure) -> f64| figures().map(|f| of(f)).fold(0.0, f64::max);
    let median = highest(|f| f.spread.median);
    highest(|f| f.spread.high.unwrap_or(0.0)).clamp(median, 1.5 * median)
}

fn line(
    row: &FigureRow<'_>,
    table: &FigureTable<'_>,
    most: f64,
    families: bool,
    words: &Words,
) -> Markup {
    html! {
        tr {
            th scope="row" { (words.key(row.key, families)) }
            @for figure in &row.figures { td.number { @if let Some(f) = figure { (value(f, words)) } } }
            @if table.layers.len() == 2 { td.number { @if let Some(r) = row.ratio { (ratio(r, words)) } } }
            td.drawn { (strip(row, table, most)) }
        }
    }
}

/// Median, interval and count, with the exact value as data for other programs.
fn value(figure: &Figure, words: &Words) -> Markup {
    let spread = &figure.spread;
    let print = printed(figure.kind.unit()).print;
    let n = words.label(label::repeats(spread.n));
    html! {
        data value=(spread.median) data-of=(layer_id(figure.key.layer)) { (print(spread.median)) }
        span.interval {
            @if let Some((low, high)) = spread.low.zip(spread.high) { span { (print(low)) "–" (print(high)) } }
            @else if let Some(range) = spread.range { span { (ranged(range, print, words)) } }
            @if let Some(pooled) = spread.pooled { span { (by_pooled(pooled, print, words)) } }
            span { (n) }
        }
        @if let Some(drift) = figure.drift {
            span.drift { (words.label(label::drift(drift))) }
        }
    }
}

/// The interval by the spread of like steps, called so.
fn by_pooled(pooled: Pooled, print: fn(f64) -> String, words: &Words) -> String {
    words.label(label::pooled(print(pooled.low), print(pooled.high)))
}

/// The range of a few values, called so.
fn ranged(range: Range, print: fn(f64) -> String, words: &Words) -> String {
    words.label(label::range(print(range.low), print(range.high)))
}

fn ratio(ratio: &Ratio, words: &Words) -> Markup {
    html! {
        data value=(ratio.ratio) data-of="ratio" { (short(ratio.ratio)) }
        @if let Some((low, high)) = ratio.low.zip(ratio.high) {
            span.interval { (short(low)) "–" (short(high)) }
        } @else if let Some(range) = ratio.range {
            span.interval {
                span { (ranged(range, short, words)) }
                @if let Some(pooled) = ratio.pooled { span { (by_pooled(pooled, short, words)) } }
            }
        }
    }
}

/// The layers of a row on a common scale from 0, with their intervals.
fn strip(row: &FigureRow<'_>, table: &FigureTable<'_>, most: f64) -> Markup {
    let x = |value: f64| MARGIN + (WIDTH - 2.0 * MARGIN) * value / most.max(f64::MIN_POSITIVE);
    let count = table.layers.len() as f64;
    html! {
        svg.strip aria-hidden="true" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) {
            line.rule x1=(MARGIN) x2=(WIDTH - MARGIN) y1=(HEIGHT - 0.5) y2=(HEIGHT - 0.5) {}
            @for (at, (layer, figure)) in table.layers.iter().zip(&row.figures).enumerate() {
                @if let Some(f) = figure {
                    @let y = (HEIGHT - 2.0) * (at as f64 + 0.5) / count;
                    @let interval = f.spread.low.zip(f.spread.high).map(|(l, h)| (x(l), x(h)));
                    (point(*layer, x(f.spread.median), y, interval))
                }
            }
        }
    }
}

fn layer_id(layer: Layer) -> &'static str {
    match layer {
        Layer::Underlay => "underlay",
        Layer::Tunnel => "tunnel",
    }
}

/// A value and its interval: a disc for the path, a square for the tunnel.
fn point(layer: Layer, x: f64, y: f64, interval: Option<(f64, f64)>) -> Markup {
    let class = layer_id(layer);
    let at = |v: f64| format!("{v:.1}");
    html! {
        g.(class) {
            @if let Some((low, high)) = interval {
                line x1=(at(low)) x2=(at(high.min(WIDTH - MARGIN))) y1=(at(y)) y2=(at(y)) {}
                @if high > WIDTH - MARGIN + 0.5 {
                    path d={ "M" (at(WIDTH - MARGIN - 1.0)) " " (at(y - 3.0)) "l5 3l-5 3z" } {}
                }
            }
            @match layer {
                Layer::Underlay => circle cx=(at(x)) cy=(at(y)) r="3.6" {},
                Layer::Tunnel => rect x=(at(x - 3.2)) y=(at(y - 3.2)) width="6.4" height="6.4" {},
            }
        }
    }
}

/// Invalid samples and notes.
pub(super) fn doubts(run: &Run, words: &Words) -> Option<Markup> {
    let families = several_families(run);
    let invalid: Vec<_> = run.samples.iter().filter(|s| !s.valid).collect();
    let nothing = invalid.is_empty() && run.notes.is_empty() && !run.lab;
    (!nothing).then(|| {
        html! {
            @if run.lab { p { (words.label(label::doubts_lab())) } }
            @if !run.notes.is_empty() {
                ul { @for note in &run.notes { @let rendered = words.render(note); li lang=[rendered.lang] { (rendered.text) } } }
            }
            @if !invalid.is_empty() {
                details.more {
                    summary { (words.label(label::doubts_invalid(invalid.len()))) }
                    ul { @for sample in invalid {
                        @let why: Vec<Rendered> = sample.invalid.iter().map(|i| words.render(&i.text())).collect();
                        li { (sample.number) ": " (words.layer(sample.key.layer)) ", "
                            (words.key(&sample.key, families)) ": "
                            @for (at, rendered) in why.iter().enumerate() {
                                @if at > 0 { "; " }
                                span lang=[rendered.lang] { (rendered.text) }
                            } }
                    } }
                }
            }
        }
    })
}
