//! `pathtwin history series` and `trend`.

use std::fmt::Write as _;

use report::{plain, time};
use serde::Serialize;
use store::{Point, SeriesName, Store, Trend as Change};

use crate::cli::history::Figures;
use crate::{cli::Format, exit::Failure, format};

/// Runs of a series that are used by default.
const LAST: u64 = 1000;

impl Figures {
    /// The series that are meant.
    fn names(&self, store: &mut Store) -> Result<Vec<SeriesName>, Failure> {
        let mut names = store.series_names(self.which.path.as_deref())?;
        names.retain(|name| name.matches(self.figure.as_deref(), self.step.as_deref()));
        Ok(names)
    }
}

/// A point with the name of its series.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    series: &'a SeriesName,
    #[serde(flatten)]
    point: &'a Point,
}

fn lines((series, points): &(SeriesName, Vec<Point>)) -> impl Iterator<Item = Line<'_>> {
    points.iter().map(move |point| Line { series, point })
}

pub(super) fn series(arguments: &Figures) -> Result<(), Failure> {
    let mut store = arguments.place.open()?;
    let names = arguments.names(&mut store)?;
    if arguments.figure.is_none() && arguments.step.is_none() {
        return list(&names, arguments.output);
    }
    let mut filter = arguments.which.filter(None);
    filter.limit = filter.limit.or(Some(LAST));
    let series = names
        .into_iter()
        .map(|name| {
            let points = store.series(&name, &filter)?;
            Ok((name, points))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    match arguments.output {
        Format::Text => format::text(&table(&series)),
        Format::Json => format::json(&series.iter().flat_map(lines).collect::<Vec<_>>()),
        Format::Jsonl => format::json_lines(&series.iter().flat_map(lines).collect::<Vec<_>>()),
    }
}

fn list(names: &[SeriesName], format: Format) -> Result<(), Failure> {
    let row = |n: &SeriesName| vec![n.path.clone(), n.step.clone(), n.figure.clone()];
    match format {
        Format::Text => {
            let rows = names.iter().map(row).collect();
            format::text(&plain::table(&["path", "step", "figure"], &[], rows))
        }
        Format::Json => format::json(&names),
        Format::Jsonl => format::json_lines(names),
    }
}

fn table(series: &[(SeriesName, Vec<Point>)]) -> String {
    let mut out = String::new();
    for (name, points) in series.iter().filter(|(_, points)| !points.is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = writeln!(out, "{} {} {}", name.path, name.step, name.figure);
        let figure = |value: f64| plain::named_figure(&name.figure, value);
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

pub(super) fn trend(arguments: &Figures) -> Result<(), Failure> {
    let mut store = arguments.place.open()?;
    let mut filter = arguments.which.filter(None);
    filter.limit = filter.limit.or(Some(LAST));
    let mut changes = Vec::new();
    let names = arguments.names(&mut store)?;
    for name in &names {
        changes.extend(store.trend(name, &filter)?);
    }
    changes.sort_by(|a, b| b.at_us.cmp(&a.at_us).then_with(|| a.series.cmp(&b.series)));
    match arguments.output {
        Format::Text => format::text(&text(&changes, names.len())),
        Format::Json => format::json(&changes),
        Format::Jsonl => format::json_lines(&changes),
    }
}

fn text(changes: &[Change], series: usize) -> String {
    if changes.is_empty() {
        return format!("no lasting change in {series} series\n");
    }
    let mut out = String::new();
    for change in changes {
        let figure = |value: f64| plain::named_figure(&change.series.figure, value);
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
