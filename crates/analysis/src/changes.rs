//! Lasting changes in the series of a history.

use model::history::{Point, SeriesName, Trend};

/// The changes in the points of a series: the index of each first run after a change, with the rest
/// of what is known but the facts that changed.
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
                change: (change.before != 0.0).then(|| change.after / change.before - 1.0),
                facts: Vec::new(),
            };
            (change.at, trend)
        })
        .collect()
}
