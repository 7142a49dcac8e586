//! Change points of a figure over the runs of a path in a history: each run is compared with the
//! earlier ones, by ranks.

use model::history::{Point, SeriesName, Trend};

/// Changes in the points of a series: the index of each first run after a change, and everything
/// known about it except the facts that changed.
pub fn of_runs(series: &SeriesName, points: &[Point]) -> Vec<(usize, Trend)> {
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
                change: share(change.before, change.after),
                facts: Vec::new(),
            };
            (change.at, trend)
        })
        .collect()
}

/// After over before, less one; `None` if it was 0 before.
pub fn share(before: f64, after: f64) -> Option<f64> {
    (before != 0.0).then(|| after / before - 1.0)
}
