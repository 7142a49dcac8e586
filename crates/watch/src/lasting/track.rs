//! The values of one figure over weeks, without the weekly pattern.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

const HOUR_US: u64 = 3_600_000_000;
const DAY_US: u64 = 24 * HOUR_US;

/// Number of stored values, for the weekly pattern and the charts: eight weeks of hours. Not
/// limited by age, because a clock that jumps ahead and back would clear them.
const KEPT: usize = 56 * 24;

/// Values this far in the future, s, are from before the clock was set back.
const FUTURE_S: u64 = 3600;

/// Time span searched for the weekly pattern and the level before a change.
const BACK_US: u64 = 28 * DAY_US;

/// Values of one hour of the week that weigh as much as all days together.
const EVEN: f64 = 6.0;

/// Fewest values of an hour of the day for a pattern of the day.
const FEWEST_OF_HOUR: usize = 4;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    /// Time, µs since 1970.
    pub at_us: u64,
    /// The value.
    pub value: f64,
}

/// The values of one figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Track {
    /// Seconds since 1970 and values, in the order of time.
    values: VecDeque<(u64, f64)>,
    /// Start of each level brought by a change, µs since 1970.
    starts: Vec<u64>,
    /// The pattern of the week, rebuilt once a day.
    #[serde(skip)]
    pattern: Option<Pattern>,
}

/// Usual offset of an hour of the week from the level, in units of the transformed values.
#[derive(Clone, Debug, PartialEq)]
struct Pattern {
    day: u64,
    hours: Vec<f64>,
}

/// Transformation that makes values comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Differences are shares of the value: logarithms.
    Relative,
    /// Differences are not transformed.
    Absolute,
}

impl Scale {
    fn apply(self, value: f64) -> f64 {
        match self {
            // Values below a nanosecond, or a bit per second, count as equal.
            Self::Relative => value.max(1e-9).ln(),
            Self::Absolute => value,
        }
    }
}

impl Track {
    /// Adds a value. Values later than this one were taken by a wrong clock, and are dropped.
    pub(crate) fn push(&mut self, value: Value) {
        let at_s = value.at_us / 1_000_000;
        let future = |(at, _): &(u64, f64)| *at > at_s + FUTURE_S;
        while self.values.back().is_some_and(future) {
            self.values.pop_back();
        }
        self.starts
            .retain(|start| *start <= value.at_us + FUTURE_S * 1_000_000);
        let last = self.values.back().map_or(0, |(at, _)| *at);
        self.values
            .push_back((at_s.max(last), rounded(value.value)));
        while self.values.len() > KEPT {
            self.values.pop_front();
        }
    }

    /// All values, the oldest first.
    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = Value> {
        self.values.iter().map(|(at_s, value)| Value {
            at_us: at_s * 1_000_000,
            value: *value,
        })
    }

    /// The changes: when each level began.
    pub(crate) fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// A new level has begun.
    pub(crate) fn begin(&mut self, at_us: u64) {
        self.starts.push(at_us);
        self.starts.sort_unstable();
        self.pattern = None;
    }

    /// The recent values at the present level, each less the offset of its hour of the week, with
    /// their times.
    pub(crate) fn level(&mut self, scale: Scale, offset_s: i32) -> Vec<Value> {
        let Some(last) = self.values().next_back() else {
            return Vec::new();
        };
        let day = last.at_us / DAY_US;
        if self
            .pattern
            .as_ref()
            .is_none_or(|pattern| pattern.day != day)
        {
            let hours = self.hours(scale, offset_s, last.at_us);
            self.pattern = Some(Pattern { day, hours });
        }
        let hours = self.pattern.as_ref().map_or(&[][..], |p| &p.hours);
        let from = self.starts.last().copied().unwrap_or(0);
        let from = from.max(last.at_us.saturating_sub(BACK_US));
        let clean = |value: Value| {
            let hour = hour_of_week(value.at_us, offset_s);
            let usual = hours.get(hour).copied().unwrap_or(0.0);
            Value {
                value: scale.apply(value.value) - usual,
                ..value
            }
        };
        let values = self.values().filter(|value| value.at_us >= from);
        values.map(clean).collect()
    }

    /// Returns the offset of each hour of the week: the median of its values (and of the
    /// neighbouring hours) less their level, drawn toward that of the hour of the day where there
    /// are few.
    fn hours(&self, scale: Scale, offset_s: i32, now_us: u64) -> Vec<f64> {
        let flat = self.flat(scale, now_us.saturating_sub(BACK_US));
        let mut of_week: Vec<Vec<f64>> = vec![Vec::new(); 168];
        let mut of_day: Vec<Vec<f64>> = vec![Vec::new(); 24];
        for value in &flat {
            let hour = hour_of_week(value.at_us, offset_s);
            for beside in [167, 0, 1] {
                of_week[(hour + beside) % 168].push(value.value);
                of_day[(hour + beside) % 24].push(value.value);
            }
        }
        let usual = |values: &Vec<f64>| {
            let enough = values.len() >= FEWEST_OF_HOUR;
            enough.then(|| stats::median(values)).flatten()
        };
        let days: Vec<f64> = of_day.iter().map(|day| usual(day).unwrap_or(0.0)).collect();
        let blend = |(hour, values): (usize, &Vec<f64>)| {
            let day = days[hour % 24];
            let weight = values.len() as f64 / (values.len() as f64 + EVEN);
            usual(values).map_or(day, |own| weight * own + (1.0 - weight) * day)
        };
        of_week.iter().enumerate().map(blend).collect()
    }

    /// Values since a time, each less the median of its level.
    fn flat(&self, scale: Scale, from_us: u64) -> Vec<Value> {
        let mut levels: Vec<Vec<Value>> = vec![Vec::new(); self.starts.len() + 1];
        for value in self.values().filter(|value| value.at_us >= from_us) {
            let level = self.starts.partition_point(|start| *start <= value.at_us);
            levels[level].push(Value {
                value: scale.apply(value.value),
                ..value
            });
        }
        let mut flat = Vec::new();
        for level in levels {
            let all: Vec<f64> = level.iter().map(|value| value.value).collect();
            let center = stats::median(&all).unwrap_or(0.0);
            flat.extend(level.into_iter().map(|value| Value {
                value: value.value - center,
                ..value
            }));
        }
        flat
    }
}

/// The hour of a week, 0 to 167, from Monday 00:00, at a time that is `offset_s` ahead of UTC.
/// 1970-01-01 was a Thursday.
pub(crate) fn hour_of_week(wall_us: u64, offset_s: i32) -> usize {
    let local_us = wall_us as i64 + i64::from(offset_s) * 1_000_000;
    let hours = local_us.div_euclid(HOUR_US as i64) + 3 * 24;
    hours.rem_euclid(168) as usize
}

/// Five digits, so that the state of a year stays small.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(4 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_digits_are_kept() {
        for (value, kept) in [(0.0, 0.0), (123.456_789, 123.46), (0.024_013_77, 0.024_014)] {
            assert!(
                (rounded(value) - kept).abs() < 1e-12 * kept.abs() + 1e-18,
                "{value}"
            );
        }
    }

    /// Every evening the value is a tenth lower: that is the pattern, and the level is even.
    #[test]
    fn a_pattern_of_the_day_is_taken_out() {
        let mut track = Track::default();
        let start = 1_795_392_000_000_000;
        for hour in 0..24 * 21_u64 {
            let evening = (19..23).contains(&(hour % 24));
            let value = if evening { 90.0 } else { 100.0 };
            track.push(Value {
                at_us: start + hour * HOUR_US,
                value,
            });
        }
        let level: Vec<f64> = track
            .level(Scale::Relative, 0)
            .iter()
            .map(|v| v.value)
            .collect();
        // The hours beside the edges share the median of three.
        let off = level.iter().filter(|v| (*v - 100f64.ln()).abs() > 0.01);
        assert!(off.count() < level.len() / 10);
    }

    #[test]
    fn a_clock_that_jumps_ahead_and_returns_loses_no_values() {
        let mut track = Track::default();
        let value = |at_us| Value { at_us, value: 1.0 };
        for day in 0..30 {
            track.push(value(day * DAY_US));
        }
        track.push(value(9000 * DAY_US));
        track.begin(9000 * DAY_US);
        track.push(value(30 * DAY_US));
        assert_eq!(track.values().count(), 31);
        assert!(track.starts().is_empty());
        assert_eq!(track.level(Scale::Relative, 0).len(), 29);
    }
}
