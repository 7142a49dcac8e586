//! Content of the pages, from a history and from the state of a watch.

use explain::judge;
use model::{
    facts::Connection,
    findings::Severity,
    history::{Entry, FigureName, HOST, Kind, Point, SeriesName, StepName, Trend},
    net::{Direction, Layer},
    run::{FigureKind, Key, Run, StepKind},
    text::Text,
};
use report::page::dashboard::{Card, Glance, PathHistory, Series, State};
use store::{Filter, Latest, Store, StoreError};

use super::{memory::Memory, present, summary};
use crate::{history::is_of, watcher::PathStatus};

/// Runs of a series that are read for a glance, and for a chart.
const GLANCED: u64 = 300;
const CHARTED: u64 = 1000;
/// Maximum number of listed runs.
const LISTED: u64 = 50;
/// Maximum number of facts per change: the others are on a separate page.
const FACTS: usize = 100;

/// The sources of a page.
pub(super) struct Collect<'a> {
    pub(super) store: &'a mut Store,
    pub(super) memory: &'a mut Memory,
    pub(super) latest: &'a [Latest],
    pub(super) live: &'a [PathStatus],
    pub(super) now_us: u64,
}

impl Collect<'_> {
    /// All paths: those of the history, and those of the watch that have no run yet.
    pub(super) fn cards(&mut self) -> Result<Vec<Card>, StoreError> {
        let mut names: Vec<String> = self.latest.iter().map(|l| l.path.clone()).collect();
        names.extend(self.live.iter().map(|path| path.name.clone()));
        names.sort();
        names.dedup();
        let cards = names.iter().map(|name| Ok(self.card(name)?.0));
        let mut cards: Vec<Card> = cards.collect::<Result<_, StoreError>>()?;
        // Paths that need attention are first; paths of one state stay in the order of their names.
        cards.sort_by_key(|card| match card.state {
            State::Unreachable => 0,
            State::Worse => 1,
            State::Changed => 2,
            State::Usual => 3,
            State::New => 4,
            State::Old => 5,
        });
        Ok(cards)
    }

    /// A path with its main series, the requested one first; `None` if nothing is known of it.
    pub(super) fn path(
        &mut self,
        name: &str,
        wanted: Option<(StepName, FigureName)>,
    ) -> Result<Option<PathHistory>, StoreError> {
        let known = self.latest.iter().any(|l| l.path == name);
        if !known && !self.live.iter().any(|path| path.name == name) {
            return Ok(None);
        }
        let (card, _) = self.card(name)?;
        let mut others = self.store.series_names(Some(name))?;
        let mut shown: Vec<SeriesName> = Vec::new();
        if let Some((step, figure)) = wanted {
            let is_wanted = |s: &&SeriesName| s.step == step && s.figure == figure;
            shown.extend(others.iter().find(is_wanted).cloned());
        }
        for layer in [Layer::Tunnel, Layer::Underlay] {
            let main = self.main(&others, layer)?;
            shown.extend(main.into_iter().map(|(series, _)| series));
        }
        let mut seen: Vec<SeriesName> = Vec::new();
        shown.retain(|series| {
            !seen.contains(series) && {
                seen.push(series.clone());
                true
            }
        });
        others.retain(|series| !shown.contains(series));
        let filter = limited(CHARTED);
        let mut charts = Vec::new();
        for name in shown {
            let points = self.store.series(&name, &filter)?;
            let mut changes = self.store.trend(&name, &filter)?;
            for change in &mut changes {
                change.facts.truncate(FACTS);
            }
            charts.push(Series {
                name,
                points,
                changes,
            });
        }
        let first = charts.iter().filter_map(|s| s.points.first());
        let since_us = first.map(|p| p.created_us).min();
        let runs = self.runs(name)?;
        Ok(Some(PathHistory {
            card,
            charts,
            others,
            tuned: self.tuned(name, since_us, &runs)?,
            runs: runs.into_iter().map(row).collect(),
        }))
    }

    /// Changes of `tune` that were proved on a path, or from the hosts that measured these runs of
    /// it.
    fn tuned(
        &mut self,
        path: &str,
        since_us: Option<u64>,
        runs: &[Entry],
    ) -> Result<Vec<(u64, String)>, StoreError> {
        let filter = Filter {
            kind: Some(Kind::Change),
            since_us,
            ..Filter::default()
        };
        let measured = |host: &str| {
            let mut hosts = runs.iter().map(|run| run.labels.get(HOST));
            hosts.any(|one| one.is_none_or(|one| *one == *host))
        };
        let entries = self.store.list(&filter)?.into_iter();
        let made = entries.filter(|change| change.path == path || is_of(change, measured));
        let made = made.take(LISTED as usize);
        Ok(made.map(|e| (e.created_us, e.id)).collect())
    }

    fn runs(&mut self, path: &str) -> Result<Vec<Entry>, StoreError> {
        let filter = Filter {
            kind: Some(Kind::Run),
            path: Some(path.to_owned()),
            ..limited(LISTED)
        };
        self.store.list(&filter)
    }

    fn card(&mut self, name: &str) -> Result<(Card, Vec<Trend>), StoreError> {
        let all = self.store.series_names(Some(name))?;
        let mut main = self.main(&all, Layer::Tunnel)?;
        if main.is_empty() {
            main = self.main(&all, Layer::Underlay)?;
        }
        let mut glances: Vec<Glance> = Vec::new();
        let mut changed = Vec::new();
        for (series, points) in &main {
            let changes = self.memory.changes(series, points);
            glances.push(summary::glance(series, points, &changes));
            changed.extend(changes.into_iter().map(|(_, change)| change));
        }
        let runs: Vec<u64> = self.runs(name)?.iter().map(|run| run.created_us).collect();
        let newest = self.latest.iter().filter(|l| l.path == name);
        let newest = newest.max_by_key(|l| l.created_us);
        let live = self.live.iter().find(|path| path.name == name);
        let state = match live {
            Some(path) if !path.reachable => State::Unreachable,
            _ => summary::state(&glances, &changed, &runs, self.now_us),
        };
        let causes = match newest {
            Some(newest) => self.causes(newest, &all)?,
            None => Vec::new(),
        };
        let card = Card {
            path: name.to_owned(),
            state,
            connection: newest.and_then(connection),
            run: newest.map(|l| (l.run.clone(), l.created_us)),
            figures: glances,
            causes,
            troubles: live.map(|path| path.troubles.clone()).unwrap_or_default(),
            live: live.map(present::live).unwrap_or_default(),
        };
        Ok((card, changed))
    }

    /// The main series on a layer, with their points: goodput of one flow in each direction, RTT
    /// without load and beside it. Of several congestion controls, that with the most runs.
    fn main(
        &mut self,
        all: &[SeriesName],
        layer: Layer,
    ) -> Result<Vec<(SeriesName, Vec<Point>)>, StoreError> {
        const MAIN: [(FigureKind, Option<Direction>); 4] = [
            (FigureKind::Goodput, Some(Direction::Down)),
            (FigureKind::Goodput, Some(Direction::Up)),
            (FigureKind::RttP50, None),
            (FigureKind::RttP50, Some(Direction::Down)),
        ];
        let mut found = Vec::new();
        for (kind, load) in MAIN {
            let mut best: Option<(SeriesName, Vec<Point>)> = None;
            let fits = |series: &&SeriesName| {
                let is_of = |key: &Key| key.layer == layer && is_load(key, load);
                series.figure.known() == Some(&kind) && series.step.known().is_some_and(is_of)
            };
            for series in all.iter().filter(fits) {
                let points = self.store.series(series, &limited(GLANCED))?;
                if best
                    .as_ref()
                    .is_none_or(|(_, most)| points.len() > most.len())
                {
                    best = Some((series.clone(), points));
                }
            }
            found.extend(best.filter(|(_, points)| !points.is_empty()));
        }
        Ok(found)
    }

    /// Returns the causes that limit the path: from the newest run that measured its capacity,
    /// which short loads do not, otherwise from the newest run.
    fn causes(
        &mut self,
        newest: &Latest,
        all: &[SeriesName],
    ) -> Result<Vec<(Severity, Text)>, StoreError> {
        let is_capacity = |s: &&SeriesName| s.figure.known() == Some(&FigureKind::Capacity);
        let mut run = (0, newest.run.clone());
        for series in all.iter().filter(is_capacity) {
            let last = self.store.series(series, &limited(1))?;
            let last = last.into_iter().map(|point| (point.created_us, point.run));
            run = last.chain([run]).max().unwrap_or_default();
        }
        if let Some(known) = self.memory.causes.get(&run.1) {
            return Ok(known.clone());
        }
        let found = match self.store.body(Kind::Run, &run.1) {
            Ok(body) => Run::parse(&body)
                .map(|run| causes(&judge(&run)))
                .unwrap_or_default(),
            // The page of the run states the error.
            Err(StoreError::TooLarge { .. } | StoreError::Damaged { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        self.memory.causes.insert(run.1, found.clone());
        Ok(found)
    }
}

/// Returns true if it is one TCP flow in this direction alone, or no load.
fn is_load(key: &Key, load: Option<Direction>) -> bool {
    match load {
        None => key.step == StepKind::Idle,
        Some(_) => {
            key.step == StepKind::Tcp
                && key.direction == load
                && key.flows == Some(1)
                && !key.bidirectional
        }
    }
}

fn limited(count: u64) -> Filter {
    Filter {
        limit: Some(count),
        ..Filter::default()
    }
}

/// Problems, each cause once: the report has their directions.
fn causes(findings: &model::findings::Findings) -> Vec<(Severity, Text)> {
    let mut found: Vec<(Severity, Text)> = Vec::new();
    for finding in findings.problems() {
        if !found.iter().any(|(_, title)| *title == finding.title) {
            found.push((finding.severity, finding.title.clone()));
        }
    }
    found
}

/// Returns how the tunnel of a run was connected to its far end, from the facts of the near host.
pub(super) fn connection(latest: &Latest) -> Option<Connection> {
    let of = |end: &str| {
        let mut facts = latest.facts.iter();
        facts.find(|(name, _)| name.starts_with("near.path.layers") && name.ends_with(end))
    };
    match of(".tunnel.path")?.1.as_str() {
        "direct" => Some(Connection::Direct),
        "relayed" => Some(Connection::Relayed(
            of(".tunnel.relay").map(|(_, v)| v.clone()),
        )),
        _ => None,
    }
}

/// A line of the table of runs: id, start, labels.
fn row(run: Entry) -> (String, u64, String) {
    let labels = run
        .labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let labels: Vec<String> = labels.collect();
    (run.id, run.created_us, labels.join(" "))
}
