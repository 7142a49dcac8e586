//! Score of a watch: the planted changes that were found, their delay, and false alarms.

use std::collections::BTreeMap;

use model::units::Seed;
use serde::{Deserialize, Serialize};
use watch::message::{Event, Message};

use super::{daemon::Watched, draw::Drawn, line::Passed};

/// A report this long after a change is of it.
const OF_CHANGE_US: u64 = 3 * 86_400 * 1_000_000;
const BOOT_US: u64 = super::weather::BOOT_S * 1_000_000;

/// A path that was watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Seed of the draw.
    pub draw: Seed,
    /// Length of the watch, days.
    pub days: f64,
    /// The path.
    pub drawn: Drawn,
    /// The watch.
    pub watched: Watched,
    /// Bytes that have passed the near router.
    pub passed: Vec<Passed>,
    /// Processor time of the guest, s.
    pub guest_cpu_s: f64,
}

/// Bytes of a month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Month {
    /// That were charged.
    pub charged: u64,
    /// That have passed the line, all headers included.
    pub passed: u64,
}

impl Outcome {
    /// The reports of changed figures and hosts that are of the change.
    pub fn found(&self) -> Vec<&Message> {
        self.changes()
            .filter(|message| self.is_of_change(message))
            .collect()
    }

    /// The other reports: false alarms, and losses of the far end, which never went away.
    pub fn false_alarms(&self) -> Vec<&Message> {
        let all = self.watched.messages.iter();
        let own = |m: &&Message| is_change(m) && self.is_of_change(m);
        all.filter(|message| !own(message)).collect()
    }

    /// Time from the change to its first report, h.
    pub fn hours(&self) -> Option<f64> {
        let found = self.found().iter().map(|message| message.found_us).min()?;
        Some((found - self.planted_us()?) as f64 / 3.6e9)
    }

    fn changes(&self) -> impl Iterator<Item = &Message> {
        self.watched.messages.iter().filter(is_change)
    }

    fn planted_us(&self) -> Option<u64> {
        let planted = self.drawn.planted.as_ref()?;
        Some(BOOT_US + (planted.at_s * 1e6) as u64)
    }

    fn is_of_change(&self, message: &Message) -> bool {
        self.planted_us()
            .is_some_and(|at| (at..at + OF_CHANGE_US).contains(&message.found_us))
    }

    /// Length of the watch, years.
    pub fn years(&self) -> f64 {
        self.days / 365.25
    }

    /// The bytes of each month by its number since the year 0, as charged, and as passed.
    pub fn months(&self) -> BTreeMap<i64, Month> {
        let mut months: BTreeMap<i64, Month> = BTreeMap::new();
        let ledger = self.watched.state["ledger"].as_object();
        for (month, spent) in ledger.into_iter().flatten() {
            if let (Ok(month), Some(all)) = (month.parse(), spent["all"].as_u64()) {
                months.entry(month).or_default().charged = all;
            }
        }
        let mut before = 0;
        for passed in &self.passed {
            // What passed in a span counts for the month in which the span began: there is a sample
            // at each full hour, so at the end of each month.
            let at = watch::moment::Moment {
                boot_ns: 0,
                wall_us: passed.at_s.saturating_sub(1) * 1_000_000,
                offset_s: 0,
            };
            months.entry(at.month().0).or_default().passed += passed.bytes - before;
            before = passed.bytes;
        }
        months
    }

    /// Resident memory at the start, at half of the time, and at the end, kB.
    pub fn memory_kb(&self) -> Option<[u64; 3]> {
        let all = &self.watched.memory;
        let at = |index: usize| all.get(index).map(|memory| memory.rss_kb);
        Some([at(0)?, at(all.len() / 2)?, at(all.len() - 1)?])
    }
}

fn is_change(message: &&Message) -> bool {
    matches!(message.event, Event::Changed | Event::HostChanged)
}

/// The exact 95 % interval of a Poisson mean of which `count` events were seen (Garwood 1936).
pub fn poisson(count: u64) -> [f64; 2] {
    // The probability of at most `n` events decreases with the mean.
    let at_most = |n: u64, mean: f64| {
        let mut term = (-mean).exp();
        let mut sum = term;
        for k in 1..=n {
            term *= mean / k as f64;
            sum += term;
        }
        sum
    };
    let mean_where = |n: u64, wanted: f64| {
        let (mut low, mut high) = (0.0, 10.0 + 4.0 * (n + 1) as f64);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if at_most(n, middle) > wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let low = count
        .checked_sub(1)
        .map_or(0.0, |below| mean_where(below, 0.975));
    [low, mean_where(count, 0.025)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_counts_are_those_of_the_tables() {
        // Garwood 1936; also half of the quantiles of chi-square with 2n and 2n + 2 degrees.
        for (count, low, high) in [
            (0, 0.0, 3.689),
            (1, 0.0253, 5.572),
            (5, 1.623, 11.668),
            (10, 4.795, 18.390),
        ] {
            let found = poisson(count);
            assert!(
                (found[0] - low).abs() < 1e-3 && (found[1] - high).abs() < 1e-3,
                "{count}: {found:?}"
            );
        }
    }

    fn message(path: &str, day: f64) -> Message {
        let us = BOOT_US + (day * 86_400e6) as u64;
        let text = format!(
            "{{\"schema\": 1, \"id\": 1, \"path\": \"{path}\", \"event\": \"changed\", \"at_us\": {us}, \
             \"found_us\": {us}, \"figures\": [], \"facts\": [], \"changes\": [], \"causes\": [], \"text\": \"\"}}"
        );
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    #[test]
    fn reports_before_a_change_and_long_after_it_are_false() {
        let drawn = super::super::draw::draw(1, 20.0, Seed(1));
        let drawn = drawn.unwrap_or_else(|e| panic!("{e}")).remove(0);
        let at = drawn.planted.as_ref().map_or(0.0, |p| p.at_s / 86_400.0);
        let messages = [at - 1.0, at + 0.5, at + 0.9, at + 3.5].map(|day| message("watch-0", day));
        let watched = Watched {
            messages: messages.to_vec(),
            ..Watched::default()
        };
        let outcome = Outcome {
            draw: Seed(1),
            days: 20.0,
            drawn,
            watched,
            passed: Vec::new(),
            guest_cpu_s: 0.0,
        };
        assert_eq!(
            (outcome.found().len(), outcome.false_alarms().len()),
            (2, 2)
        );
        assert!(
            outcome
                .hours()
                .is_some_and(|hours| (hours - 12.0).abs() < 0.01)
        );
    }

    #[test]
    fn bytes_before_midnight_are_of_the_month_that_ends() {
        let drawn = super::super::draw::draw(1, 20.0, Seed(1));
        let drawn = drawn.unwrap_or_else(|e| panic!("{e}")).remove(0);
        // 2023-12-01 00:00:00 UTC.
        let december = 1_701_388_800;
        let passed = [(december - 3600, 10), (december, 17), (december + 3600, 40)];
        let passed = passed.map(|(at_s, bytes)| Passed { at_s, bytes }).to_vec();
        let state = serde_json::json!({"ledger": {"24286": {"all": 20, "paths": {}}}});
        let watched = Watched {
            state,
            ..Watched::default()
        };
        let outcome = Outcome {
            draw: Seed(1),
            days: 20.0,
            drawn,
            watched,
            passed,
            guest_cpu_s: 0.0,
        };
        // November 2023 is the month 2023 * 12 + 10.
        let months = outcome.months();
        assert_eq!(
            months[&24_286],
            Month {
                charged: 20,
                passed: 17
            }
        );
        assert_eq!(
            months[&24_287],
            Month {
                charged: 0,
                passed: 23
            }
        );
    }
}
