//! `pathtwin history series` and `trend`.

use model::history::{FigureName, Point, SeriesName};
use report::history;
use serde::Serialize;
use store::Store;

use crate::cli::history::Figures;
use crate::{cli::Format, exit::Failure, format};

/// Runs of a series that are used by default.
const LAST: u64 = 1000;

impl Figures {
    /// The selected series.
    fn names(&self, store: &mut Store) -> Result<Vec<SeriesName>, Failure> {
        let mut names = store.series_names(self.which.path.as_deref())?;
        let figure = self.figure.as_deref().map(FigureName::from);
        names.retain(|name| name.matches(figure.as_ref(), self.step.as_deref()));
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
        Format::Text => format::text(&history::series(&series, format::width())),
        Format::Json => format::json(&series.iter().flat_map(lines).collect::<Vec<_>>()),
        Format::Jsonl => format::json_lines(&series.iter().flat_map(lines).collect::<Vec<_>>()),
    }
}

fn list(names: &[SeriesName], format: Format) -> Result<(), Failure> {
    match format {
        Format::Text => format::text(&history::names(names, format::width())),
        Format::Json => format::json(&names),
        Format::Jsonl => format::json_lines(names),
    }
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
        Format::Text => format::text(&history::trend(&changes, names.len(), format::width())),
        Format::Json => format::json(&changes),
        Format::Jsonl => format::json_lines(&changes),
    }
}
