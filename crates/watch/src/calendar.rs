//! A calendar that goes on evenly while the clock of the host is set.
//!
//! A router without a battery starts in 1970 and learns the time later; clocks are set wrong by
//! hand, and right again. Values are compared in the order of time and by the hour of the week, so
//! they are kept by this calendar, which is that of the host but for the jumps of its clock.

use serde::{Deserialize, Serialize};

use crate::moment::Moment;

/// A clock that differs by less from the time that has passed was not set, but adjusted.
const STEP_US: u64 = 3600 * 1_000_000;
const WEEK_US: i64 = 7 * 24 * 3600 * 1_000_000;

/// The calendar of a watch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Calendar {
    /// The last moment that was seen, ns of CLOCK_BOOTTIME.
    boot_ns: u64,
    /// By the host's clock, µs since 1970; 0 = none.
    wall_us: u64,
    /// The host's clock less this calendar, µs.
    ahead_us: i64,
}

impl Calendar {
    /// Sees a moment of the same boot. If the clock was set since the last one, this calendar goes
    /// on as if it had not been.
    pub(crate) fn see(&mut self, now: Moment) {
        if self.wall_us != 0 {
            let passed_us = (now.boot_ns as i64 - self.boot_ns as i64) / 1000;
            let step_us = now.wall_us as i64 - (self.wall_us as i64 + passed_us);
            if step_us.unsigned_abs() > STEP_US {
                self.ahead_us += step_us;
            }
        }
        (self.boot_ns, self.wall_us) = (now.boot_ns, now.wall_us);
    }

    /// Sees the first moment after another boot: the host's clock is taken to be right, unless it
    /// is behind what this calendar has shown already.
    pub(crate) fn restart(&mut self, now: Moment) {
        let shown_us = self.wall_us as i64 - self.ahead_us;
        if self.wall_us != 0 {
            self.ahead_us = (now.wall_us as i64 - shown_us).min(0);
        }
        (self.boot_ns, self.wall_us) = (now.boot_ns, now.wall_us);
    }

    /// A moment by this calendar. Its hour of the week is that of the host's clock.
    pub(crate) fn even(&self, now: Moment) -> Moment {
        let week_s = self.ahead_us.rem_euclid(WEEK_US) / 1_000_000;
        Moment {
            wall_us: now.wall_us.saturating_add_signed(-self.ahead_us),
            // Below the seconds of a week.
            offset_s: now.offset_s + week_s as i32,
            ..now
        }
    }

    /// A time of this calendar by the host's clock.
    pub(crate) fn of_host_us(&self, even_us: u64) -> u64 {
        even_us.saturating_add_signed(self.ahead_us)
    }

    /// A time of the host's clock by this calendar.
    pub(crate) fn even_us(&self, host_us: u64) -> u64 {
        host_us.saturating_add_signed(-self.ahead_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment {
        boot_ns: 5_000_000_000,
        wall_us: 1_795_392_000_000_000,
        offset_s: 3600,
    };
    const YEAR_US: i64 = 31_556_952_000_000;

    fn set(now: Moment, by_us: i64) -> Moment {
        Moment {
            wall_us: now.wall_us.saturating_add_signed(by_us),
            ..now
        }
    }

    #[test]
    fn a_clock_that_is_set_by_years_moves_no_time_and_keeps_the_hour_of_the_week() {
        for by in [10 * YEAR_US, -10 * YEAR_US, -50 * YEAR_US] {
            let mut calendar = Calendar::default();
            calendar.see(NOW);
            let later = NOW.after(60_000_000_000);
            calendar.see(set(later, by));
            let even = calendar.even(set(later, by));
            assert_eq!(even.wall_us, later.wall_us);
            assert_eq!(even.hour_of_week(), set(later, by).hour_of_week());
            assert_eq!(calendar.of_host_us(even.wall_us), set(later, by).wall_us);
            assert_eq!(calendar.even_us(set(later, by).wall_us), even.wall_us);
            // And back.
            let after = later.after(60_000_000_000);
            calendar.see(after);
            assert_eq!(calendar.even(after), after);
        }
    }

    #[test]
    fn a_clock_that_is_adjusted_is_followed() {
        let mut calendar = Calendar::default();
        calendar.see(NOW);
        let later = set(NOW.after(60_000_000_000), 2_000_000);
        calendar.see(later);
        assert_eq!(calendar.even(later), later);
    }

    #[test]
    fn a_router_that_starts_in_1970_goes_on_where_it_ended_and_is_right_at_the_next_start() {
        let mut calendar = Calendar::default();
        calendar.see(NOW);
        let boot = Moment {
            boot_ns: 1,
            wall_us: 9_000_000,
            offset_s: 0,
        };
        calendar.restart(boot);
        assert_eq!(calendar.even(boot).wall_us, NOW.wall_us);
        // It learns the time: an hour was lost, which it cannot know.
        let right = set(NOW.after(3600 * 1_000_000_000), 0);
        let right = Moment {
            boot_ns: 1,
            ..right
        };
        calendar.see(right);
        assert_eq!(calendar.even(right).wall_us, NOW.wall_us);
        let next = Moment {
            boot_ns: 2,
            ..right.after(7200 * 1_000_000_000)
        };
        calendar.restart(next);
        assert_eq!(calendar.even(next), next);
    }
}
