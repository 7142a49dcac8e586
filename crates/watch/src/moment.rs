//! Points in time on two clocks, and their places in the calendar.

use serde::{Deserialize, Serialize};

use crate::lasting;

const MINUTE_US: i64 = 60_000_000;
const DAY_US: i64 = 24 * 60 * MINUTE_US;

/// Nanoseconds of a second.
pub const SECOND_NS: u64 = 1_000_000_000;
/// Nanoseconds of an hour.
pub const HOUR_NS: u64 = 3600 * SECOND_NS;
/// Nanoseconds of a day.
pub const DAY_NS: u64 = 24 * HOUR_NS;

/// A point in time: on the monotonic clock, used for scheduling, and on that of the calendar, used
/// for reporting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// CLOCK_BOOTTIME, ns.
    pub boot_ns: u64,
    /// µs since 1970, by a clock that may be wrong or be set.
    pub wall_us: u64,
    /// Local time less UTC, s.
    pub offset_s: i32,
}

impl Moment {
    /// This moment by the clocks of this host.
    pub fn now() -> Self {
        let wall_us = sys::clock::realtime_ns() / 1000;
        Self {
            boot_ns: sys::clock::boottime_ns(),
            wall_us,
            offset_s: sys::clock::local_offset_s(wall_us / 1_000_000),
        }
    }

    /// The moment this many ns later.
    pub fn after(self, ns: u64) -> Self {
        Self {
            boot_ns: self.boot_ns.saturating_add(ns),
            wall_us: self.wall_us.saturating_add(ns / 1000),
            ..self
        }
    }

    /// The month in UTC: no month is longer or shorter for a change of the local time.
    pub fn month(self) -> Month {
        Month::of_day((self.wall_us as i64).div_euclid(DAY_US))
    }

    /// The hour of the local week, 0 to 167, from Monday 00:00.
    pub fn hour_of_week(self) -> usize {
        lasting::hour_of_week(self.wall_us, self.offset_s)
    }

    /// The minute of the local day, 0 to 1439.
    pub fn minute_of_day(self) -> u32 {
        (local_us(self.wall_us, self.offset_s).rem_euclid(DAY_US) / MINUTE_US) as u32
    }

    /// The number of the day since 1970, UTC.
    pub fn day(self) -> u64 {
        self.wall_us / DAY_US as u64
    }
}

fn local_us(wall_us: u64, offset_s: i32) -> i64 {
    wall_us as i64 + i64::from(offset_s) * 1_000_000
}

/// A month of the calendar: months since January of the year 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Month(pub i64);

impl Month {
    /// The month of a day, counted from 1970-01-01 (Howard Hinnant, chrono-compatible low-level
    /// date algorithms, `civil_from_days`).
    fn of_day(days: i64) -> Self {
        let days = days + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        // From March on: 0 is March, 11 is February of the next year.
        let from_march = (5 * of_year + 2) / 153;
        Self((year + era * 400) * 12 + 2 + from_march)
    }
}

impl std::fmt::Display for Month {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:04}-{:02}",
            self.0.div_euclid(12),
            self.0.rem_euclid(12) + 1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, offset_s: i32) -> Moment {
        Moment {
            boot_ns: 0,
            wall_us: seconds * 1_000_000,
            offset_s,
        }
    }

    #[test]
    fn months_are_those_of_date() {
        // date -u -d @SECONDS +%Y-%m
        for (seconds, month) in [
            (0, "1970-01"),
            (951_782_399, "2000-02"),
            (951_868_799, "2000-02"),
            (951_868_800, "2000-03"),
            (1_795_255_200, "2026-11"),
            (1_798_761_599, "2026-12"),
            (1_798_761_600, "2027-01"),
        ] {
            assert_eq!(at(seconds, 0).month().to_string(), month, "{seconds}");
        }
    }

    #[test]
    fn hours_of_the_week_begin_on_monday_of_the_local_time() {
        // 2026-11-23 00:00 UTC is a Monday.
        let monday = 1_795_392_000;
        assert_eq!(at(monday, 0).hour_of_week(), 0);
        assert_eq!(at(monday - 1, 0).hour_of_week(), 167);
        assert_eq!(at(monday, 3600).hour_of_week(), 1);
        assert_eq!(at(monday, -5 * 3600).hour_of_week(), 163);
        assert_eq!(at(monday + 90 * 60, 0).minute_of_day(), 90);
        assert_eq!(at(monday, -60).minute_of_day(), 1439);
    }
}
