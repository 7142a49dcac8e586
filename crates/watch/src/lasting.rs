//! Lasting changes of hourly values over weeks, against the same hour of the week. A change must
//! persist for hours, and none is revoked. The runs of a history are tested against the earlier
//! ones instead ([`analysis::changes::of_runs`]).
//!
//! Two stages. A difference that occurs by chance once in hundreds of tests is a *suspicion*: it
//! calls for more measurements, soon. A *change* is one that practically never occurs by chance, is
//! large enough to be relevant, has persisted for hours, and exceeds the day-to-day variation of
//! this line.

mod track;

use analysis::changes;
use model::watch::WatchFigure;
use serde::{Deserialize, Serialize};

pub(crate) use track::{Scale, Track, Value, hour_of_week};

const HOUR_US: u64 = 3_600_000_000;
const DAY_US: u64 = 24 * HOUR_US;

/// A level is known after this many values over this time.
const KNOWN: (usize, u64) = (24, 3 * DAY_US);
/// Lengths of the time after a change that are tried, values.
const AFTER: [usize; 7] = [4, 6, 8, 12, 18, 26, 38];
/// Values of the level before that are compared.
const BEFORE: usize = 240;
/// Minimum duration of a change: longer than an evening.
const LASTING_US: u64 = 9 * HOUR_US;
/// The chance below which a difference is suspected.
const SUSPECTED: f64 = 2e-3;
/// The probability below which a change is certain: with some ten thousand tests a year on each of
/// ten figures, it occurs by chance once in ten years if no other condition applied.
const CERTAIN: f64 = 1e-6;
/// Share of the smallest detectable change that an estimate must reach: it scatters around the true
/// change.
const ENOUGH: f64 = 0.7;
/// A change must be this many times the scatter of the days before it.
const OF_DAYS: f64 = 3.0;
/// Smallest change of a share of lost packets: 3 of 1000 already reduce throughput.
const MIN_LOST: f64 = 0.003;
/// Smallest change of the delay added by a load, as a share: it varies from load to load.
pub(crate) const MIN_ADDED: f64 = 0.25;
/// Smallest change of a delay, s.
const LEAST_DELAY_S: f64 = 0.000_3;

/// A difference between the latest values and the level before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shift {
    /// Start, µs since 1970: the estimated first value after it.
    pub at_us: u64,
    /// Median before (of shares: mean).
    pub before: f64,
    /// Median after.
    pub after: f64,
    /// The chance of such a difference without a change, of this one test.
    pub p: f64,
}

impl Shift {
    /// After over before, less one; absent if it was 0 before.
    pub(crate) fn share(&self) -> Option<f64> {
        changes::share(self.before, self.after)
    }
}

/// Verdict on the latest values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// No significant difference.
    Same,
    /// More measurements are needed.
    Suspected(Shift),
    /// A lasting change.
    Changed(Shift),
}

/// Rule for judging a kind of figure.
#[derive(Clone, Copy, Debug)]
struct Rule {
    scale: Scale,
    /// Smallest difference on that scale.
    least: f64,
    /// Smallest difference in units of the figure.
    least_value: f64,
}

fn rule(kind: WatchFigure, change: f64) -> Rule {
    let relative = |share: f64, least_value: f64| Rule {
        scale: Scale::Relative,
        least: ENOUGH * (1.0 + share).ln(),
        least_value,
    };
    match kind {
        WatchFigure::Rtt => relative(change, LEAST_DELAY_S),
        WatchFigure::Goodput => relative(change, 0.0),
        WatchFigure::Added => relative(change.max(MIN_ADDED), LEAST_DELAY_S),
        WatchFigure::Lost => Rule {
            scale: Scale::Absolute,
            least: ENOUGH * MIN_LOST,
            least_value: 0.0,
        },
    }
}

/// Judges the values of a figure; `change` is the smallest change to detect, a share.
pub(crate) fn judge(track: &mut Track, kind: WatchFigure, change: f64, offset_s: i32) -> Verdict {
    let rule = rule(kind, change);
    let level = track.level(rule.scale, offset_s);
    let values: Vec<f64> = level.iter().map(|v| v.value).collect();
    let mut best: Option<(usize, Shift)> = None;
    for after in AFTER {
        let Some(shift) = compared(&level, &values, after, rule) else {
            continue;
        };
        if best.is_none_or(|(_, least)| shift.p < least.p) {
            best = Some((after, shift));
        }
    }
    let Some((after, shift)) = best else {
        return Verdict::Same;
    };
    let shift = in_units(track, shift, kind);
    let by = shift.after - shift.before;
    if by.abs() < rule.least_value {
        return Verdict::Same;
    }
    // The raw values must show it, too, not only those less the weekly pattern.
    if rule.scale == Scale::Relative && (shift.after / shift.before).ln().abs() < rule.least {
        return Verdict::Suspected(shift);
    }
    match lasts(&level, &values, after, shift, rule) {
        true => Verdict::Changed(shift),
        false => Verdict::Suspected(shift),
    }
}

/// The difference between the last `n` values and those before, if it is suspect.
fn compared(level: &[Value], values: &[f64], n: usize, rule: Rule) -> Option<Shift> {
    let split = values
        .len()
        .checked_sub(n)
        .filter(|split| *split >= KNOWN.0)?;
    if level[split].at_us - level[0].at_us < KNOWN.1 {
        return None;
    }
    let (before, after) = (
        &values[split.saturating_sub(BEFORE)..split],
        &values[split..],
    );
    let (low, high) = centers(before, after, rule.scale)?;
    if (high - low).abs() < rule.least {
        return None;
    }
    let p = match rule.scale {
        Scale::Absolute => chance_of_losses(before, after)?,
        Scale::Relative => stats::mann_whitney(after, before)?.p,
    };
    (p <= SUSPECTED).then_some(Shift {
        at_us: level[split].at_us,
        before: low,
        after: high,
        p,
    })
}

/// The probability of this many hours with a loss. If most hours have no loss, the ranks are tied
/// and the normal approximation fails: then it is the binomial tail of hours with a loss, whose
/// earlier share is estimated as (hits + 1) / (n + 2) (Laplace).
fn chance_of_losses(before: &[f64], after: &[f64]) -> Option<f64> {
    let hits = |values: &[f64]| values.iter().filter(|v| **v > 0.0).count();
    let share = (hits(before) + 1) as f64 / (before.len() + 2) as f64;
    if share >= 0.5 {
        return Some(stats::mann_whitney(after, before)?.p);
    }
    let (n, hits) = (after.len(), hits(after));
    let above = stats::binomial_tail(hits as u64, n as u64, share)?;
    Some((2.0 * above).min(1.0))
}

/// Centers of both sides. For shares that are mostly 0 the mean, since their median is 0.
fn centers(before: &[f64], after: &[f64], scale: Scale) -> Option<(f64, f64)> {
    match scale {
        Scale::Relative => Some((stats::median(before)?, stats::median(after)?)),
        Scale::Absolute => Some((stats::mean(before)?, stats::mean(after)?)),
    }
}

/// Returns true if a suspected change is one.
fn lasts(level: &[Value], values: &[f64], n: usize, shift: Shift, rule: Rule) -> bool {
    let split = values.len() - n;
    let Some((low, high)) = centers(&values[..split], &values[split..], rule.scale) else {
        return false;
    };
    let by = high - low;
    let newest = level.last().map_or(0, |v| v.at_us);
    let latest = centers(&values[..split], &values[values.len() - 4..], rule.scale);
    let still = latest.is_some_and(|(low, latest)| (latest - low) / by >= 0.5);
    shift.p <= CERTAIN
        && newest - shift.at_us >= LASTING_US
        && still
        && by.abs() >= OF_DAYS * scatter_of_days(&level[..split], rule)
}

/// Returns a robust measure of the scatter of the levels of the days before. Fewer than three days
/// show none.
fn scatter_of_days(before: &[Value], rule: Rule) -> f64 {
    let mut days: Vec<(u64, Vec<f64>)> = Vec::new();
    for value in before {
        let day = value.at_us / DAY_US;
        match days.last_mut().filter(|(own, _)| *own == day) {
            Some((_, values)) => values.push(value.value),
            None => days.push((day, vec![value.value])),
        }
    }
    let center = |values: &Vec<f64>| match rule.scale {
        Scale::Relative => stats::median(values),
        Scale::Absolute => stats::mean(values),
    };
    let levels: Vec<f64> = days
        .iter()
        .filter_map(|(_, values)| center(values))
        .collect();
    match levels.len() {
        0..3 => 0.0,
        _ => stats::median_deviation(&levels).unwrap_or(0.0),
    }
}

/// The shift in units of the figure: medians of the values themselves, as they were measured.
fn in_units(track: &Track, shift: Shift, kind: WatchFigure) -> Shift {
    let from = track.starts().last().copied().unwrap_or(0);
    let from = from.max(shift.at_us.saturating_sub(28 * DAY_US));
    let side = |after: bool| -> Vec<f64> {
        let values = track.values().filter(|v| v.at_us >= from);
        let values = values.filter(|v| (v.at_us >= shift.at_us) == after);
        values.map(|v| v.value).collect()
    };
    let center = |values: Vec<f64>| match kind {
        WatchFigure::Lost => stats::mean(&values),
        _ => stats::median(&values),
    };
    Shift {
        before: center(side(false)).unwrap_or(0.0),
        after: center(side(true)).unwrap_or(0.0),
        ..shift
    }
}

#[cfg(test)]
mod tests {
    use stats::Random;

    use super::*;

    const START: u64 = 1_795_392_000_000_000;

    /// Hourly values of 100 with 2 % of noise; from the hour `from` on, times `factor`.
    fn track(hours: u64, from: u64, factor: f64) -> Track {
        let mut random = Random::new(7);
        let mut track = Track::default();
        for hour in 0..hours {
            // The sum of twelve even numbers is about normal.
            let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let level = if hour < from { 100.0 } else { 100.0 * factor };
            track.push(Value {
                at_us: START + hour * HOUR_US,
                value: level * (1.0 + 0.02 * normal),
            });
        }
        track
    }

    #[test]
    fn five_percent_less_is_a_change_within_a_day() {
        let found = (500..=524).find_map(|hours| {
            match judge(&mut track(hours, 500, 0.95), WatchFigure::Goodput, 0.05, 0) {
                Verdict::Changed(shift) => Some((hours, shift)),
                _ => None,
            }
        });
        let (_, shift) = found.expect("it is found");
        assert!(
            shift.at_us.abs_diff(START + 500 * HOUR_US) <= 3 * HOUR_US,
            "{shift:?}"
        );
        assert!(
            (shift.after / shift.before - 0.95).abs() < 0.015,
            "{shift:?}"
        );
    }

    #[test]
    fn a_bad_hour_is_not_a_change() {
        let mut track = track(500, 500, 1.0);
        for minute in 0..30 {
            track.push(Value {
                at_us: START + 500 * HOUR_US + minute * 120_000_000,
                value: 60.0,
            });
        }
        let verdict = judge(&mut track, WatchFigure::Goodput, 0.05, 0);
        assert!(matches!(verdict, Verdict::Suspected(_)), "{verdict:?}");
    }

    #[test]
    fn two_days_are_too_few_to_know_a_level() {
        let verdict = judge(&mut track(48, 36, 0.5), WatchFigure::Goodput, 0.05, 0);
        assert_eq!(verdict, Verdict::Same);
    }
}
