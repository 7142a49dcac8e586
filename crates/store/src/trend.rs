//! Changes in a series: time, size, and what else changed then.

use serde::Serialize;

use crate::{Filter, Point, SeriesName, Store, StoreError, facts::differences};

/// How far beside a change its cause may lie: the place of a change is known to a run or two.
const AROUND: usize = 2;

/// A lasting change in a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trend {
    /// Which series.
    #[serde(flatten)]
    pub series: SeriesName,
    /// The first run after the change, by the best estimate.
    pub run: String,
    /// When that was, µs since 1970.
    pub at_us: u64,
    /// The run that made it certain.
    pub found: String,
    /// Median before, since the change before this one.
    pub before: f64,
    /// Median after, until the next change.
    pub after: f64,
    /// After over before, less one; absent if it was 0 before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// The facts that changed near that run.
    pub facts: Vec<FactChange>,
}

/// A fact that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FactChange {
    /// Its name, such as `near.congestion.default`, or `label.NAME`.
    pub fact: String,
    /// Before; absent if it was not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// After.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The first run with the new value.
    pub run: String,
}

/// The changes in the points of a series: the index of each first run after a change, with the rest
/// of what is known. Pure arithmetic; [`Store::trend`] adds the facts.
pub fn trends(series: &SeriesName, points: &[Point]) -> Vec<(usize, Trend)> {
    let values: Vec<f64> = points.iter().map(|p| p.median).collect();
    stats::changes(&values)
        .into_iter()
        .map(|change| {
            let trend = Trend {
                series: series.clone(),
                run: points[change.at].run.clone(),
                at_us: points[change.at].created_us,
                found: points[change.found].run.clone(),
                before: change.before,
                after: change.after,
                change: (change.before != 0.0).then(|| change.after / change.before - 1.0),
                facts: Vec::new(),
            };
            (change.at, trend)
        })
        .collect()
}

impl Store {
    /// The lasting changes in a series, with the facts that changed at the same time.
    ///
    /// # Errors
    ///
    /// The history cannot be read.
    pub fn trend(&mut self, name: &SeriesName, filter: &Filter) -> Result<Vec<Trend>, StoreError> {
        let points = self.series(name, filter)?;
        let mut out = Vec::new();
        for (at, mut trend) in trends(name, &points) {
            let from = at.saturating_sub(AROUND + 1);
            let to = (at + AROUND).min(points.len() - 1);
            trend.facts = self.changed(&points[from..=to])?;
            out.push(trend);
        }
        Ok(out)
    }

    /// Facts that differ between the first and the last of some runs, and where they changed.
    fn changed(&mut self, runs: &[Point]) -> Result<Vec<FactChange>, StoreError> {
        let facts = runs
            .iter()
            .map(|run| self.facts(run.seq))
            .collect::<Result<Vec<_>, _>>()?;
        let (Some(first), Some(last)) = (facts.first(), facts.last()) else {
            return Ok(Vec::new());
        };
        let changes = differences(first, last);
        Ok(changes
            .into_iter()
            .map(|(fact, before, after)| {
                let new = facts.iter().rposition(|f| f.get(&fact) != last.get(&fact));
                let run = new.map_or(0, |at| at + 1);
                FactChange {
                    run: runs[run].run.clone(),
                    fact,
                    before,
                    after,
                }
            })
            .collect())
    }
}
