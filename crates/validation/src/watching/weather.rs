//! Variation of a line that is no change: it wanders from day to day, evenings are worse, and now
//! and then others use it for some minutes.

use serde::{Deserialize, Serialize};
use stats::Random;

/// Boot of a lab guest, s since 1970 (2023-11-14 22:13:20 UTC).
pub const BOOT_S: u64 = 1_700_000_000;

/// Standard deviation of the wandering level, and its memory from hour to hour: a day.
const WANDER: f64 = 0.007;
const MEMORY: f64 = 0.959; // e^(-1/24)
/// Hours of the day (UTC) that are worse.
const EVENING: std::ops::Range<u64> = 19..23;
/// Mean time between two uses by others, and their length, s: a fiftieth of the time.
const APART_S: f64 = 12.0 * 3600.0;
const LENGTH_S: (f64, f64) = (300.0, 1500.0);

/// The variation of one line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weather {
    /// Seed of all of it.
    pub seed: u64,
    /// Degradation in the evenings, a share of the rate.
    pub evening: f64,
}

/// State of a line from a point in time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Since boot, s.
    pub at_s: f64,
    /// Share of the rate that is left.
    pub rate: f64,
    /// Factor of the delay.
    pub delay: f64,
    /// Delay in queues of others, one way, s.
    pub queue_s: f64,
}

/// A use of the line by others.
struct Others {
    at_s: f64,
    end_s: f64,
    rate: f64,
    queue_s: f64,
}

impl Weather {
    /// All levels of a number of days, in order; the first begins at boot.
    pub fn levels(&self, days: f64) -> Vec<Level> {
        let mut random = Random::new(self.seed);
        let hours = (24.0 * days).ceil() as usize + 1;
        let wander = wander(hours, &mut random);
        let others = others(86_400.0 * days, &mut random);
        let edges = others.iter().flat_map(|o| [o.at_s, o.end_s]);
        let mut times: Vec<f64> = (0..hours).map(|h| 3600.0 * h as f64).chain(edges).collect();
        times.sort_by(f64::total_cmp);
        let level = |at_s: f64| {
            let hour = ((at_s / 3600.0) as usize).min(hours - 1);
            let of_day = (BOOT_S + at_s as u64) / 3600 % 24;
            let evening = if EVENING.contains(&of_day) {
                self.evening
            } else {
                0.0
            };
            let now = others.iter().find(|o| (o.at_s..o.end_s).contains(&at_s));
            Level {
                at_s,
                rate: (1.0 + wander[hour]) * (1.0 - evening) * now.map_or(1.0, |o| o.rate),
                delay: 1.0 + 0.5 * wander[hour] + 0.3 * evening,
                queue_s: now.map_or(0.0, |o| o.queue_s),
            }
        };
        times.into_iter().map(level).collect()
    }
}

fn wander(hours: usize, random: &mut Random) -> Vec<f64> {
    let fresh = (1.0 - MEMORY * MEMORY).sqrt() * WANDER;
    let mut step = |last: &mut f64, ()| {
        *last = MEMORY * *last + fresh * normal(random);
        Some(*last)
    };
    std::iter::repeat_n((), hours)
        .scan(0.0, |last, ()| step(last, ()))
        .collect()
}

fn others(end_s: f64, random: &mut Random) -> Vec<Others> {
    let mut found = Vec::new();
    let mut at_s = 0.0;
    loop {
        at_s -= APART_S * random.unit().ln();
        let length = LENGTH_S.0 + (LENGTH_S.1 - LENGTH_S.0) * random.unit();
        let (rate, queue_s) = (0.4 + 0.5 * random.unit(), 0.025 * random.unit());
        if at_s >= end_s {
            return found;
        }
        let one = Others {
            at_s,
            end_s: at_s + length,
            rate,
            queue_s,
        };
        at_s = one.end_s;
        found.push(one);
    }
}

/// Box and Muller 1958.
fn normal(random: &mut Random) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_line_varies_as_it_is_said_to() {
        let weather = Weather {
            seed: 4,
            evening: 0.05,
        };
        let levels = weather.levels(400.0);
        assert!(levels.windows(2).all(|pair| pair[0].at_s <= pair[1].at_s));
        let calm: Vec<f64> = levels
            .iter()
            .filter(|l| l.queue_s == 0.0)
            .filter(|l| !EVENING.contains(&((BOOT_S + l.at_s as u64) / 3600 % 24)))
            .map(|l| l.rate)
            .collect();
        let mean = stats::mean(&calm).unwrap();
        let variance = calm.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / calm.len() as f64;
        assert!((mean - 1.0).abs() < 0.001, "{mean}");
        assert!(
            (0.006..0.008).contains(&variance.sqrt()),
            "{}",
            variance.sqrt()
        );
        let spans = levels
            .windows(2)
            .map(|pair| (pair[0], pair[1].at_s - pair[0].at_s));
        let used: f64 = spans.filter(|(l, _)| l.queue_s > 0.0).map(|(_, s)| s).sum();
        let share = used / (400.0 * 86_400.0);
        assert!((0.015..0.026).contains(&share), "{share}");
    }

    /// Both routers of a path follow it, each for itself.
    #[test]
    fn the_same_seed_is_the_same_weather() {
        let weather = Weather {
            seed: 9,
            evening: 0.02,
        };
        assert_eq!(weather.levels(30.0), weather.levels(30.0));
        assert_ne!(
            weather.levels(30.0),
            Weather {
                seed: 10,
                ..weather
            }
            .levels(30.0)
        );
    }
}
