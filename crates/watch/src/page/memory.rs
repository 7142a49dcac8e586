//! Cache of the computed values of pages.

use std::collections::{BTreeMap, HashMap};

use model::{
    findings::Severity,
    history::{Point, SeriesName, Trend},
    text::Text,
};

/// Maximum number of cached runs and series.
const REMEMBERED: usize = 2000;

/// Computed values, valid as long as the newest run of a series is the same.
#[derive(Default)]
pub(super) struct Memory {
    /// The causes of each run.
    pub(super) causes: HashMap<String, Vec<(Severity, Text)>>,
    changes: BTreeMap<SeriesName, Remembered>,
}

/// The changes of a series.
struct Remembered {
    /// Its newest run when they were computed.
    newest: String,
    /// Number of points in the series.
    points: usize,
    /// Index of the first point after each change, and the change.
    changes: Vec<(usize, Trend)>,
}

impl Memory {
    /// Limits its size.
    pub(super) fn forget(&mut self) {
        if self.causes.len() > REMEMBERED {
            self.causes.clear();
        }
        if self.changes.len() > REMEMBERED {
            self.changes.clear();
        }
    }

    /// The lasting changes of a series, computed when it has a new run.
    pub(super) fn changes(&mut self, series: &SeriesName, points: &[Point]) -> Vec<(usize, Trend)> {
        let newest = points.last().map(|p| p.run.clone()).unwrap_or_default();
        let known = self.changes.get(series);
        let known = known.filter(|k| k.newest == newest && k.points == points.len());
        if let Some(known) = known {
            return known.changes.clone();
        }
        let changes = analysis::changes::of_runs(series, points);
        let kept = Remembered {
            newest,
            points: points.len(),
            changes: changes.clone(),
        };
        self.changes.insert(series.clone(), kept);
        changes
    }
}
