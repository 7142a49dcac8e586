//! Changes in a series, and other changes at that time.

use model::{
    facts::differences,
    history::{FactChange, Point, SeriesName, Trend},
};

use crate::{Filter, Store, StoreError};

/// Distance from a change within which its cause may lie, in runs: the position of a change is
/// known to a run or two.
const AROUND: usize = 2;

impl Store {
    /// The lasting changes in a series, with the facts that changed at the same time.
    ///
    /// # Errors
    ///
    /// The history cannot be read.
    pub fn trend(&mut self, name: &SeriesName, filter: &Filter) -> Result<Vec<Trend>, StoreError> {
        let points = self.series(name, filter)?;
        let mut out = Vec::new();
        for (at, mut trend) in analysis::changes::of_runs(name, &points) {
            let from = at.saturating_sub(AROUND + 1);
            let to = (at + AROUND).min(points.len() - 1);
            trend.facts = self.changed(&points[from..=to])?;
            out.push(trend);
        }
        Ok(out)
    }

    /// Facts that differ between the first and the last of some runs, and the runs where they
    /// changed.
    fn changed(&mut self, runs: &[Point]) -> Result<Vec<FactChange>, StoreError> {
        let facts = runs
            .iter()
            .map(|run| self.facts(&run.run))
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
