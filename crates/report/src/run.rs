//! Runs as text for terminals: the tunnel compared with its underlay, and all figures.

use std::fmt::Write as _;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use model::{
    net::Layer,
    run::{End, Figure, FigureKind, Range, Ratio, Run},
    safe::{self, line},
};

use crate::{
    figures::{FigureTable, row_name, tables},
    number::{percent, short},
    printed::printed,
    wrap,
};

/// The text; tables may be as wide as they need.
pub fn text(run: &Run) -> String {
    whole(run, None)
}

/// The text with tables of at most this many columns.
pub fn text_within(run: &Run, width: usize) -> String {
    whole(run, Some(width))
}

fn whole(run: &Run, width: Option<usize>) -> String {
    let mut out = crate::shortfall::text(run);
    head(run, &mut out);
    for table in tables(run) {
        let _ = write!(out, "\n{}", figure_table(&table, width));
    }
    out.push_str(&compared(run));
    out.push_str(&crate::segments::text(run));
    let busy = crate::busy::lines(run);
    if !busy.is_empty() {
        let _ = writeln!(
            out,
            "\nwhere processors were busy under TCP (samples of the whole host)"
        );
    }
    for line in busy {
        let _ = writeln!(out, "  {}", safe::line(&line));
    }
    tail(run, &mut out);
    let out = safe::lines(&out);
    match width {
        Some(width) => wrap::lines(&out, width),
        None => out.into_owned(),
    }
}

fn head(run: &Run, out: &mut String) {
    let _ = writeln!(
        out,
        "run {}: plan {}, {} samples, {} of them valid, {}{}",
        line(&run.id),
        line(&run.plan.name),
        run.samples.len(),
        run.samples.iter().filter(|s| s.valid).count(),
        span(run.took_s),
        if run.lab {
            " of virtual time (lab)"
        } else {
            ""
        },
    );
    for (name, end) in [("near", &run.near), ("far", &run.far)] {
        let _ = writeln!(out, "{name}: {}", line(&facts(end)));
    }
    for layer in &run.layers {
        let _ = writeln!(
            out,
            "{}: {} to {}",
            layer_name(layer.layer),
            layer.near,
            layer.far
        );
    }
    out.push_str(&crate::shortfall::cut_short(run));
}

fn facts(end: &End) -> String {
    let facts = &end.facts;
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    format!(
        "pathtwin {}, Linux {}, congestion control {}",
        end.program,
        or(&facts.kernel),
        or(&facts.congestion.default)
    )
}

fn layer_name(layer: Layer) -> &'static str {
    match layer {
        Layer::Underlay => "underlay",
        Layer::Tunnel => "tunnel",
    }
}

/// Minutes and seconds.
pub(crate) fn span(seconds: f64) -> String {
    if seconds < 60.0 {
        format!("{seconds:.0} s")
    } else {
        let whole = seconds.round() as u64;
        format!("{} min {} s", whole / 60, whole % 60)
    }
}

fn figure_table(table: &FigureTable<'_>, width: Option<usize>) -> String {
    let mut text = Table::new();
    text.load_preset(presets::NOTHING);
    if let Some(width) = width.and_then(|width| u16::try_from(width).ok()) {
        text.set_content_arrangement(ContentArrangement::Dynamic);
        text.set_width(width);
    }
    let mut heading = vec![table.kind.text().to_owned()];
    heading.extend(table.layers.iter().map(|l| layer_name(*l).to_owned()));
    if table.layers.len() == 2 {
        heading.push("tunnel/underlay".to_owned());
    }
    text.set_header(cells(heading));
    for row in &table.rows {
        let mut line = vec![row_name(row.key)];
        let figures = row.figures.iter();
        line.extend(figures.map(|f| f.map_or_else(String::new, value)));
        if table.layers.len() == 2 {
            line.push(row.ratio.map_or_else(String::new, ratio_text));
        }
        text.add_row(cells(line));
    }
    format!("{}\n", text.trim_fmt())
}

fn cells(line: Vec<String>) -> Vec<Cell> {
    line.into_iter()
        .enumerate()
        .map(|(i, text)| {
            let alignment = if i == 0 {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            };
            Cell::new(safe::line(&text)).set_alignment(alignment)
        })
        .collect()
}

/// Median, interval and count.
pub(crate) fn value(figure: &Figure) -> String {
    let spread = &figure.spread;
    let unit = printed(figure.kind.unit());
    let interval = interval(spread.low.zip(spread.high), spread.range, unit.print);
    let drift = figure.drift.map_or_else(String::new, |d| {
        format!(" drifting {}{}", if d > 0.0 { "+" } else { "" }, percent(d))
    });
    format!(
        "{}{interval} n={}{drift}",
        unit.with_unit(spread.median),
        spread.n
    )
}

/// An interval in brackets, or a range labelled as such; empty if both ends print equal.
fn interval(
    interval: Option<(f64, f64)>,
    range: Option<Range>,
    print: fn(f64) -> String,
) -> String {
    match (interval, range) {
        (Some((low, high)), _) => format!(" [{}, {}]", print(low), print(high)),
        (None, Some(range)) if print(range.low) != print(range.high) => {
            format!(" ({} to {})", print(range.low), print(range.high))
        }
        _ => String::new(),
    }
}

pub(crate) fn ratio_text(ratio: &Ratio) -> String {
    let interval = interval(ratio.low.zip(ratio.high), ratio.range, short);
    format!("{}{interval}", short(ratio.ratio))
}

/// Comparison of congestion controls.
fn compared(run: &Run) -> String {
    let mut out = String::new();
    let ratios = run
        .ratios
        .iter()
        .filter(|r| r.kind == FigureKind::Goodput && r.of.layer == r.to.layer);
    for ratio in ratios {
        if out.is_empty() {
            out.push_str("\ngoodput against cubic\n");
        }
        let _ = writeln!(
            out,
            "  {}: {}",
            line(&ratio.of.to_string()),
            ratio_text(ratio)
        );
    }
    out
}

fn tail(run: &Run, out: &mut String) {
    let invalid: Vec<_> = run.samples.iter().filter(|s| !s.valid).collect();
    if !invalid.is_empty() {
        let _ = writeln!(out, "\ninvalid samples");
    }
    for sample in invalid {
        let why: Vec<String> = sample.invalid.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            out,
            "  {}: {}: {}",
            sample.number,
            line(&sample.key.to_string()),
            line(&why.join("; "))
        );
    }
    for note in &run.notes {
        let _ = writeln!(out, "note: {}", line(&note.to_string()));
    }
    if run.lab {
        out.push_str(
            "\nA lab path has no processor limits, no Wi-Fi and no third-party networks:\n\
             docs/limitations.md.\n",
        );
    }
}
