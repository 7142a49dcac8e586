//! Whether a kept change of `tune` still helps, by the values of a figure.
//!
//! Days are compared, not values: loads of one evening are no evidence of their own. What a change
//! gained is known from the first week with it, compared with the two weeks before; it is useless
//! if a later week is, with 99 % confidence, less than the smallest detectable change better than
//! those two weeks. Anything between is no verdict.

use model::watch::WatchFigure;
use serde::{Deserialize, Serialize};
use stats::Interval;

use crate::{
    figures::Figure,
    lasting::{MIN_ADDED, Track},
    undo::Request,
};

const DAY_US: u64 = 24 * 3_600_000_000;
/// The time after a change that shows what it gains, and that shows what is left of it.
pub(crate) const WEEK_US: u64 = 7 * DAY_US;
/// The time before a change.
const BEFORE_US: u64 = 14 * DAY_US;
/// Fewest values of a day, and fewest days on each side.
const FEWEST: (usize, usize) = (4, 6);
/// Confidence of a gain.
const LEVEL: f64 = 0.99;

/// The level of a figure without a change, and what the change gained at first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gained {
    /// Logarithms of the medians of the days before it.
    without: Vec<f64>,
    /// The gain in the first week with it: a logarithm, positive if better.
    pub(crate) gain: f64,
}

/// What is known of a change that may be undone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Useful {
    /// True if its first week is over: the gains are final.
    pub(crate) is_known: bool,
    /// What it gained, by path and figure.
    pub(crate) gained: Vec<(String, Figure, Gained)>,
    /// Since when nothing seems to be left of it, µs since 1970: loads since then are the retest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) doubt_us: Option<u64>,
    /// The request to undo it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<Request>,
}

/// What is left of a gain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Left {
    /// The largest gain that the last week may have, with [`LEVEL`].
    pub(crate) most: f64,
    /// Medians without the change and in the last week, in units of the figure.
    pub(crate) without: f64,
    pub(crate) now: f64,
}

/// The smallest gain that counts; `None` for figures that no change of `tune` is for.
fn least(kind: WatchFigure, change: f64) -> Option<f64> {
    match kind {
        WatchFigure::Goodput => Some((1.0 + change).ln()),
        WatchFigure::Added => Some((1.0 + change.max(MIN_ADDED)).ln()),
        WatchFigure::Rtt | WatchFigure::Lost => None,
    }
}

/// The gain of some days over others: positive if better.
fn gain(kind: WatchFigure, with: &[f64], without: &[f64]) -> Option<(f64, Interval)> {
    let (by, Interval { low, high }) = stats::shift(with, without, LEVEL)?;
    match kind {
        WatchFigure::Goodput => Some((by, Interval { low, high })),
        _ => Some((
            -by,
            Interval {
                low: -high,
                high: -low,
            },
        )),
    }
}

/// Logarithms of the medians of the days from a time on; `None` if they are too few.
fn days(track: &Track, from_us: u64, until_us: u64) -> Option<Vec<f64>> {
    let mut days: Vec<(u64, Vec<f64>)> = Vec::new();
    let values = track.values();
    for value in values.filter(|v| (from_us..until_us).contains(&v.at_us) && v.value > 0.0) {
        let day = (value.at_us - from_us) / DAY_US;
        match days.last_mut().filter(|(own, _)| *own == day) {
            Some((_, values)) => values.push(value.value.ln()),
            None => days.push((day, vec![value.value.ln()])),
        }
    }
    let full = days.iter().filter(|(_, values)| values.len() >= FEWEST.0);
    let medians: Vec<f64> = full
        .filter_map(|(_, values)| stats::median(values))
        .collect();
    (medians.len() >= FEWEST.1).then_some(medians)
}

/// What a change of the time `at_us` has gained in its first week; `None` if nothing is proved.
pub(crate) fn gained(track: &Track, kind: WatchFigure, at_us: u64, change: f64) -> Option<Gained> {
    let least = least(kind, change)?;
    let without = days(track, at_us.saturating_sub(BEFORE_US), at_us)?;
    let with = days(track, at_us, at_us + WEEK_US)?;
    let (gain, interval) = gain(kind, &with, &without)?;
    (interval.low > 0.0 && gain >= least).then_some(Gained { without, gain })
}

/// What is left of a gain in the week before `now_us`, if that is certainly nothing.
pub(crate) fn nothing_left(
    gained: &Gained,
    (track, kind): (&Track, WatchFigure),
    now_us: u64,
    change: f64,
) -> Option<Left> {
    let with = days(track, now_us.saturating_sub(WEEK_US), now_us + 1)?;
    let (_, interval) = gain(kind, &with, &gained.without)?;
    (interval.high < least(kind, change)?).then_some(Left {
        most: interval.high.exp() - 1.0,
        without: stats::median(&gained.without)?.exp(),
        now: stats::median(&with)?.exp(),
    })
}

/// Whether the values since a time, such as those of a retest, show no gain either.
pub(crate) fn is_repeated(
    gained: &Gained,
    (track, kind): (&Track, WatchFigure),
    since_us: u64,
    change: f64,
) -> bool {
    let values = track
        .values()
        .filter(|v| v.at_us >= since_us && v.value > 0.0);
    let values: Vec<f64> = values.map(|v| v.value.ln()).collect();
    let both = stats::median(&values).zip(stats::median(&gained.without));
    let by = both.map(|(with, without)| match kind {
        WatchFigure::Goodput => with - without,
        _ => without - with,
    });
    by.zip(least(kind, change))
        .is_some_and(|(by, least)| by < least)
}
