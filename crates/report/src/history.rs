//! Tables of the history: its documents, series of figures, and lasting changes in them.

use std::fmt::Write as _;

use model::history::{Entry, Point, SeriesName, Trend};

use crate::{
    fit::{self, ALWAYS, Column},
    plain::named_figure,
    time, wrap,
};

/// The documents, one per line, without the columns that do not fit `width`.
pub fn entries(entries: &[Entry], width: Option<usize>) -> String {
    let rows: Vec<Vec<String>> = entries
        .iter()
        .map(|entry| {
            let labels: Vec<String> = entry
                .labels
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            vec![
                entry.id.clone(),
                time::utc(entry.created_us),
                entry.kind.to_string(),
                entry.path.clone(),
                format!("{} kB", entry.stored_bytes.div_ceil(1000)),
                labels.join(" "),
            ]
        })
        .collect();
    let columns = [
        column("id", false, ALWAYS),
        column("created (UTC)", false, 90),
        column("kind", false, 70),
        column("path", false, 80),
        column("size", true, 20),
        column("labels", false, 10),
    ];
    fit::table(&columns, &rows, width)
}

/// Names of series, one per line, without the paths if these do not fit `width`.
pub fn names(names: &[SeriesName], width: Option<usize>) -> String {
    let row = |n: &SeriesName| vec![n.path.clone(), n.step.to_string(), n.figure.to_string()];
    let rows: Vec<Vec<String>> = names.iter().map(row).collect();
    let columns = [
        column("path", false, 50),
        column("step", false, ALWAYS),
        column("figure", false, ALWAYS),
    ];
    fit::table(&columns, &rows, width)
}

/// The points of series, a table for each that has some, without the columns that do not fit
/// `width`.
pub fn series(series: &[(SeriesName, Vec<Point>)], width: Option<usize>) -> String {
    let columns = [
        column("started (UTC)", false, ALWAYS),
        column("run", false, 50),
        column("median", true, ALWAYS),
        column("interval", true, 80),
        column("n", true, 60),
    ];
    let mut out = String::new();
    for (name, points) in series.iter().filter(|(_, points)| !points.is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        let title = format!("{} {} {}\n", name.path, name.step, name.figure);
        out.push_str(&within(title, width));
        let figure = |value: f64| named_figure(&name.figure, value);
        let row = |point: &Point| {
            let interval = point.low.zip(point.high);
            vec![
                time::utc(point.created_us),
                point.run.clone(),
                figure(point.median),
                interval.map_or_else(String::new, |(l, h)| {
                    format!("[{}, {}]", figure(l), figure(h))
                }),
                point.n.to_string(),
            ]
        };
        let rows: Vec<Vec<String>> = points.iter().map(row).collect();
        out.push_str(&fit::table(&columns, &rows, width));
    }
    out
}

fn column(heading: &str, right: bool, importance: u8) -> Column {
    Column {
        heading: heading.to_owned(),
        right,
        importance,
    }
}

fn within(text: String, width: Option<usize>) -> String {
    match width {
        Some(width) => wrap::lines(&text, width),
        None => text,
    }
}

/// Lasting changes in a number of series, with the facts of the hosts that changed at the same
/// time.
pub fn trend(changes: &[Trend], series: usize, width: Option<usize>) -> String {
    if changes.is_empty() {
        return format!("no lasting change in {series} series\n");
    }
    let mut out = String::new();
    for change in changes {
        let figure = |value: f64| named_figure(&change.series.figure, value);
        let by = change
            .change
            .map_or_else(String::new, |share| format!(" ({:+.1} %)", 100.0 * share));
        let _ = writeln!(
            out,
            "{} {} {}\n  {}: {} to {}{by}, from run {} on",
            change.series.path,
            change.series.step,
            change.series.figure,
            time::utc(change.at_us),
            figure(change.before),
            figure(change.after),
            change.run,
        );
        for fact in &change.facts {
            let or = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
            let _ = writeln!(
                out,
                "    {}: {} to {} in run {}",
                fact.fact,
                or(&fact.before),
                or(&fact.after),
                fact.run
            );
        }
    }
    within(out, width)
}
