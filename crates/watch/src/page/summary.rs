//! Summary of a series: its latest day compared with the usual range since its last change.

use model::{
    history::{FigureName, Point, SeriesName, Trend},
    run::Better,
};
use report::page::dashboard::{CHANGED_DAYS, Glance, State, Tone};

const DAY_US: u64 = 86_400_000_000;
/// Time for which a change is shown as new.
const NEW_US: u64 = CHANGED_DAYS * DAY_US;
/// Fewest values of a usual level.
const FEWEST: usize = 5;
/// Smallest difference to report: smaller ones are irrelevant for a reader.
const SMALL: f64 = 0.05;
/// Multiple of the usual interval between runs after which a path counts as not measured.
const LATE: f64 = 3.0;
/// Number of values in a sparkline.
const DRAWN: usize = 60;

/// The latest day of a series against the level before it.
pub(crate) fn glance(series: &SeriesName, points: &[Point], changes: &[(usize, Trend)]) -> Glance {
    let newest = points.last().map_or(0, |point| point.created_us);
    let start = newest.saturating_sub(DAY_US);
    // A change of this very day is compared with the usual range before it.
    let is_older = |(at, _): &&(usize, Trend)| points[*at].created_us < start;
    let level = changes.iter().rfind(is_older).map_or(0, |(at, _)| *at);
    let (before, day): (Vec<&Point>, Vec<&Point>) = points[level..]
        .iter()
        .partition(|point| point.created_us < start);
    let medians = |points: &[&Point]| points.iter().map(|p| p.median).collect::<Vec<f64>>();
    let (usual, day) = (medians(&before), medians(&day));
    let enough = usual.len() >= FEWEST;
    let today = stats::median(&day);
    let drawn = points.len().saturating_sub(DRAWN);
    Glance {
        series: series.clone(),
        today,
        usual: stats::median(&usual).filter(|_| enough),
        tone: match today.filter(|_| enough) {
            Some(today) => tone(&series.figure, today, &usual),
            None => Tone::Usual,
        },
        values: points[drawn..].iter().map(|point| point.median).collect(),
    }
}

/// Returns the tone of a day: marked if it is outside 95 % of the usual values by more than a small
/// difference.
fn tone(figure: &FigureName, today: f64, usual: &[f64]) -> Tone {
    let Some(kind) = figure.known() else {
        return Tone::Usual;
    };
    let bounds = [2.5, 50.0, 97.5].map(|p| stats::percentile(usual, p));
    let [Some(low), Some(median), Some(high)] = bounds else {
        return Tone::Usual;
    };
    if (today - median).abs() <= SMALL * median.abs() {
        return Tone::Usual;
    }
    match (kind.better(), today < low, today > high) {
        (Better::Higher, true, _) | (Better::Lower, _, true) => Tone::Worse,
        (Better::Higher, _, true) | (Better::Lower, true, _) => Tone::Better,
        _ => Tone::Usual,
    }
}

/// The state of a path without a watch. `runs`: when its newest runs were, the newest first.
pub(crate) fn state(glances: &[Glance], changes: &[Trend], runs: &[u64], now_us: u64) -> State {
    let Some(newest) = runs.first() else {
        return State::New;
    };
    let gaps: Vec<f64> = runs
        .windows(2)
        .map(|w| w[0].saturating_sub(w[1]) as f64)
        .collect();
    let usual = stats::median(&gaps)
        .unwrap_or(0.0)
        .max(DAY_US as f64 / LATE);
    if now_us.saturating_sub(*newest) as f64 > LATE * usual {
        return State::Old;
    }
    if glances.iter().any(|glance| glance.tone == Tone::Worse) {
        return State::Worse;
    }
    if changes.iter().any(|c| c.at_us + NEW_US >= *newest) {
        return State::Changed;
    }
    match glances.iter().any(|glance| glance.usual.is_some()) {
        true => State::Usual,
        false => State::New,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_US: u64 = DAY_US / 24;

    fn series() -> SeriesName {
        SeriesName {
            path: "p".to_owned(),
            step: "underlay/v4 tcp down x1".into(),
            figure: "goodput_bps".into(),
        }
    }

    /// A value every six hours; the last day has `last`.
    fn points(days: u64, usual: f64, last: f64) -> Vec<Point> {
        let all = days * 4;
        let noise = |at: u64| 1.0 + (at * 37 % 11) as f64 / 1000.0;
        let value = |at: u64| if at + 4 >= all { last } else { usual } * noise(at);
        (0..all)
            .map(|at| Point::of(&format!("{at}"), at * 6 * HOUR_US, value(at)))
            .collect()
    }

    #[test]
    fn an_unusual_day_is_named_by_its_direction() {
        for (last, tone) in [
            (94e6, Tone::Usual),
            (97e6, Tone::Usual),
            (70e6, Tone::Worse),
            (120e6, Tone::Better),
        ] {
            let glance = glance(&series(), &points(10, 94e6, last), &[]);
            assert_eq!(glance.tone, tone, "{last}");
            let usual = glance.usual.unwrap_or_default();
            assert!((usual / 94e6 - 1.0).abs() < 0.02, "{usual}");
        }
        let mut delay = series();
        delay.figure = "rtt_p50_us".into();
        let slower = glance(&delay, &points(10, 20e3, 30e3), &[]);
        assert_eq!(slower.tone, Tone::Worse);
    }

    #[test]
    fn few_runs_are_not_compared() {
        let glance = glance(&series(), &points(2, 94e6, 50e6), &[]);
        assert_eq!((glance.usual, glance.tone), (None, Tone::Usual));
        assert_eq!(state(&[glance], &[], &[1], 2), State::New);
    }

    #[test]
    fn a_path_that_is_measured_daily_is_old_after_three_days() {
        let daily: Vec<u64> = (0..10).map(|day| (20 - day) * DAY_US).collect();
        let glances = [glance(&series(), &points(10, 94e6, 94e6), &[])];
        let after = |days: u64| state(&glances, &[], &daily, (20 + days) * DAY_US);
        assert_eq!(after(2), State::Usual);
        assert_eq!(after(4), State::Old);
    }
}
