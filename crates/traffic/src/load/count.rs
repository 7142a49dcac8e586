//! Statistics of numbered datagrams: loss, loss runs, reordering, duplicates, jitter.

use model::record::UdpSample;

/// Numbers this far behind the highest are no longer distinguished from copies.
const WINDOW: u64 = 1 << 16;

/// Counts numbered datagrams as they arrive, in memory that does not grow.
#[derive(Debug)]
pub struct Counter {
    /// Datagrams that arrived, each counted once.
    pub received: u64,
    /// Highest number, plus one.
    pub highest: u64,
    /// Datagrams that arrived after one with a higher number.
    pub reordered: u64,
    /// Datagrams that arrived twice, or too late to distinguish.
    pub duplicates: u64,
    /// Jitter, ns.
    jitter_ns: u64,
    /// Ring of seen numbers: bit n % WINDOW.
    seen: Vec<u64>,
    /// Numbers below this have left the window and are counted in the runs.
    settled: u64,
    run: u64,
    runs: u64,
    longest: u64,
    transit_ns: Option<i64>,
}

impl Default for Counter {
    fn default() -> Self {
        Self {
            received: 0,
            highest: 0,
            reordered: 0,
            duplicates: 0,
            jitter_ns: 0,
            seen: vec![0; (WINDOW / 64) as usize],
            settled: 0,
            run: 0,
            runs: 0,
            longest: 0,
            transit_ns: None,
        }
    }
}

/// Runs of numbers that did not arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Number of runs.
    pub count: u64,
    /// Length of the longest.
    pub longest: u64,
}

impl Counter {
    /// Takes in a datagram: its number and its transit time (any clock offset).
    ///
    /// A number more than 2^32 ahead of all others is considered foreign and ignored.
    pub fn count(&mut self, number: u64, transit_ns: i64) {
        if number >= self.highest.saturating_add(1 << 32) {
            return;
        }
        if number < self.settled || (number < self.highest && self.is_seen(number)) {
            self.duplicates += 1;
            return;
        }
        if number >= self.highest {
            self.settle(number.saturating_add(1).saturating_sub(WINDOW));
            self.highest = number + 1;
        } else {
            self.reordered += 1;
        }
        self.seen[(number % WINDOW / 64) as usize] |= 1 << (number % 64);
        self.received += 1;
        if let Some(before) = self.transit_ns.replace(transit_ns) {
            // RFC 3550 section 6.4.1: J += (|D| - J) / 16, in whole ns: up to 15 ns are left out.
            let difference = transit_ns.abs_diff(before);
            match difference.checked_sub(self.jitter_ns) {
                Some(more) => self.jitter_ns += more / 16,
                None => self.jitter_ns -= (self.jitter_ns - difference) / 16,
            }
        }
    }

    /// Jitter by RFC 3550, ns.
    pub fn jitter_ns(&self) -> u64 {
        self.jitter_ns
    }

    /// The counts so far, of datagrams of `payload` bytes.
    pub fn sample(&self, payload: u64) -> UdpSample {
        UdpSample {
            received: self.received,
            bytes: self.received.saturating_mul(payload),
            highest: self.highest,
            reordered: self.reordered,
            duplicates: self.duplicates,
            jitter_ns: self.jitter_ns(),
        }
    }

    /// Runs of missing numbers among the first `sent`.
    pub fn runs(mut self, sent: u64) -> Runs {
        self.settle(sent.min(self.highest));
        self.run = self.run.saturating_add(sent.saturating_sub(self.highest));
        self.end_run();
        Runs {
            count: self.runs,
            longest: self.longest,
        }
    }

    fn is_seen(&self, number: u64) -> bool {
        self.seen[(number % WINDOW / 64) as usize] >> (number % 64) & 1 == 1
    }

    /// Moves the lower end of the window to `to`.
    fn settle(&mut self, to: u64) {
        // A jump past the whole window: the numbers in between were never seen.
        let far = self.settled.saturating_add(WINDOW);
        while self.settled < to.min(far) {
            let word = (self.settled % WINDOW / 64) as usize;
            let bit = 1 << (self.settled % 64);
            if self.settled < self.highest && self.seen[word] & bit != 0 {
                self.seen[word] &= !bit;
                self.end_run();
            } else {
                self.run += 1;
            }
            self.settled += 1;
        }
        if self.settled < to {
            self.run += to - self.settled;
            self.settled = to;
        }
    }

    fn end_run(&mut self) {
        if self.run > 0 {
            self.runs += 1;
            self.longest = self.longest.max(self.run);
            self.run = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_loss_order_and_copies() {
        let mut counter = Counter::default();
        for number in [0, 1, 3, 2, 2, 5] {
            counter.count(number, 1000);
        }
        assert_eq!(
            (
                counter.received,
                counter.highest,
                counter.reordered,
                counter.duplicates
            ),
            (5, 6, 1, 1)
        );
        assert_eq!(
            counter.runs(9),
            Runs {
                count: 2,
                longest: 3
            }
        );
    }

    #[test]
    fn a_constant_difference_is_the_jitter() {
        let mut counter = Counter::default();
        for number in 0..2000 {
            counter.count(number, (number % 2) as i64 * 16_000);
        }
        assert!((15_985..=16_000).contains(&counter.jitter_ns()));
    }

    #[test]
    fn runs_longer_than_the_window_are_counted_whole() {
        let mut counter = Counter::default();
        counter.count(0, 0);
        counter.count(1_000_000, 0);
        assert_eq!(
            counter.runs(1_000_001),
            Runs {
                count: 1,
                longest: 999_999
            }
        );
    }

    proptest! {
        /// Compared with a set, for any order in which datagrams are no further apart than the
        /// window.
        #[test]
        fn agrees_with_a_set(numbers in proptest::collection::vec(0u64..3000, 0..4000), more in 0u64..100) {
            let mut counter = Counter::default();
            let (mut seen, mut reordered, mut duplicates, mut highest) = (HashSet::new(), 0, 0, 0);
            for &number in &numbers {
                counter.count(number, 0);
                if !seen.insert(number) {
                    duplicates += 1;
                } else if number < highest {
                    reordered += 1;
                }
                highest = highest.max(number + 1);
            }
            prop_assert_eq!(counter.received, seen.len() as u64);
            prop_assert_eq!((counter.reordered, counter.duplicates), (reordered, duplicates));
            prop_assert_eq!(counter.highest, highest);
            let (mut runs, mut run) = (Runs::default(), 0);
            for number in 0..=highest + more {
                if number < highest + more && !seen.contains(&number) {
                    run += 1;
                } else if run > 0 {
                    runs.count += 1;
                    runs.longest = runs.longest.max(run);
                    run = 0;
                }
            }
            prop_assert_eq!(counter.runs(highest + more), runs);
        }

        #[test]
        fn any_numbers_are_taken(numbers in any::<Vec<u64>>()) {
            let mut counter = Counter::default();
            for number in numbers {
                counter.count(number, i64::MIN);
            }
            let _ = counter.runs(u64::MAX);
        }
    }
}
