//! Tables of the history: its documents, series of figures, and lasting changes in them.

use std::fmt::Write as _;

use model::history::{Entry, Point, SeriesName, Trend};

use crate::{
    plain::{self, named_figure},
    time,
};

/// The documents, one a line.
pub fn entries(entries: &[Entry]) -> String {
    let rows = entries
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
    plain::table(
        &["id", "created (UTC)", "kind", "path", "size", "labels"],
        &[4],
        rows,
    )
}

/// Names of series, one a line.
pub fn names(names: &[SeriesName]) -> String {
    let row = |n: &SeriesName| vec![n.path.clone(), n.step.to_string(), n.figure.to_string()];
    let rows = names.iter().map(row).collect();
    plain::table(&["path", "step", "figure"], &[], rows)
}

/// The points of series, a table for each that has some.
pub fn series(series: &[(SeriesName, Vec<Point>)]) -> String {
    let mut out = String::new();
    for (name, points) in series.iter().filter(|(_, points)| !points.is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = writeln!(out, "{} {} {}", name.path, name.step, name.figure);
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
                format!("n={}", point.n),
            ]
        };
        let heading = ["started (UTC)", "run", "median", "interval", ""];
        out.push_str(&plain::table(
            &heading,
            &[2, 3, 4],
            points.iter().map(row).collect(),
        ));
    }
    out
}

/// Lasting changes in a number of series, with the facts of the hosts that changed at the same
/// time.
pub fn trend(changes: &[Trend], series: usize) -> String {
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
    out
}
