//! Mapping of the kernel's 32-bit datagram numbers to 64-bit numbers.

use std::collections::VecDeque;

/// Number of remembered counts, above the failed sends between two reads of the error queue.
const REMEMBERED: usize = 64;

/// Number of sent datagrams, and the kernel's counts.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Total sent.
    sent: u64,
    /// Sent before the start of the kernel's current count.
    base: u64,
    /// Earlier counts, oldest first.
    earlier: VecDeque<Count>,
}

/// A finished count of the kernel.
#[derive(Debug)]
struct Count {
    /// Numbers of its datagrams.
    ids: std::ops::Range<u64>,
    /// End of the count, CLOCK_REALTIME ns.
    until_ns: u64,
}

impl Ids {
    /// The number of a datagram that was sent.
    pub(super) fn next(&mut self) -> u64 {
        let id = self.sent;
        self.sent += 1;
        id
    }

    /// The kernel restarts counting from 0.
    pub(super) fn restart(&mut self, now_ns: u64) {
        if self.base == self.sent {
            return;
        }
        if self.earlier.len() == REMEMBERED {
            self.earlier.pop_front();
        }
        self.earlier.push_back(Count {
            ids: self.base..self.sent,
            until_ns: now_ns,
        });
        self.base = self.sent;
    }

    /// The number of the datagram with the kernel's number `key` that was stamped at `at_ns`.
    /// `None` if no such datagram was sent.
    pub(super) fn of(&self, key: u32, at_ns: u64) -> Option<u64> {
        let count = self.earlier.iter().find(|count| at_ns < count.until_ns);
        let ids = count.map_or(self.base..self.sent, |count| count.ids.clone());
        Some(ids.start + widen(key, ids.end - ids.start)?)
    }
}

/// The largest number below `count` whose lower half is `key`.
fn widen(key: u32, count: u64) -> Option<u64> {
    let last = count.checked_sub(1)?;
    let behind = (last as u32).wrapping_sub(key);
    last.checked_sub(u64::from(behind))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_lower_half_names_a_recent_datagram(id in 0u64..1 << 40, behind in 0u64..1 << 32) {
            prop_assert_eq!(widen(id as u32, id + behind + 1), Some(id));
        }

        #[test]
        fn a_number_is_always_of_a_datagram_that_was_sent(key: u32, count in 0u64..1 << 40) {
            if let Some(id) = widen(key, count) {
                prop_assert!(id < count && id as u32 == key);
            } else {
                prop_assert!(u64::from(key) >= count);
            }
        }
    }

    #[test]
    fn a_late_stamp_belongs_to_the_count_in_which_it_was_made() {
        let mut ids = Ids::default();
        for expected in 0..5 {
            assert_eq!(ids.next(), expected);
        }
        ids.restart(1000);
        assert_eq!(ids.of(0, 2000), None);
        assert_eq!(ids.next(), 5);
        assert_eq!((ids.of(3, 999), ids.of(0, 1001)), (Some(3), Some(5)));
        assert_eq!(ids.of(5, 999), None);
        // Consecutive failures start only one count.
        ids.restart(3000);
        ids.restart(4000);
        assert_eq!(ids.next(), 6);
        assert_eq!((ids.of(0, 2999), ids.of(0, 5000)), (Some(5), Some(6)));
        assert_eq!(ids.of(4, 10), Some(4));
    }

    #[test]
    fn counts_of_long_ago_are_forgotten() {
        let mut ids = Ids::default();
        for failure in 1..=1000 {
            ids.next();
            ids.restart(failure * 10);
        }
        assert_eq!(ids.earlier.len(), REMEMBERED);
        assert_eq!(ids.of(0, 9_999), Some(999));
    }
}
