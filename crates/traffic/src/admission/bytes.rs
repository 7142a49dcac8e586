//! Payload bytes that loads may still move: one sum for all loads, so that parallel loads do not
//! each get the whole remainder.

use std::{
    io,
    sync::atomic::{AtomicI64, Ordering},
};

use model::{text, text::Text};

/// All bytes that were allowed are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct Spent;

impl Spent {
    /// The error as a text.
    pub fn text(self) -> Text {
        text!("the byte limit is reached")
    }
}

impl From<Spent> for io::Error {
    fn from(spent: Spent) -> Self {
        Self::other(spent.text())
    }
}

/// A sum of bytes.
#[derive(Debug)]
pub(super) struct Budget(Option<AtomicI64>);

impl Budget {
    /// This many bytes; `None` = unlimited.
    pub(super) fn new(bytes: Option<u64>) -> Self {
        let bytes = bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        Self(bytes.map(AtomicI64::new))
    }

    /// The remainder, if there is a limit.
    pub(super) fn left(&self) -> Option<u64> {
        let left = self.0.as_ref()?.load(Ordering::Relaxed);
        Some(u64::try_from(left).unwrap_or(0))
    }

    /// Counts transferred bytes.
    ///
    /// # Errors
    /// They exceed the remaining bytes: nothing more may be transferred.
    pub(super) fn spend(&self, bytes: u64) -> Result<(), Spent> {
        match self.subtract(bytes) {
            Some(left) if left < 0 => Err(Spent),
            _ => Ok(()),
        }
    }

    /// Reserves bytes to transfer.
    ///
    /// # Errors
    /// They exceed the remaining bytes; then none are reserved.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), Spent> {
        match self.subtract(bytes) {
            Some(left) if left < 0 => {
                self.give_back(bytes);
                Err(Spent)
            }
            _ => Ok(()),
        }
    }

    /// Reserves bytes to transfer, or the remainder if that is less.
    ///
    /// # Errors
    /// Nothing is left.
    pub(super) fn take_up_to(&self, bytes: u64) -> Result<u64, Spent> {
        let Some(sum) = &self.0 else {
            return Ok(bytes);
        };
        let mut left = sum.load(Ordering::Relaxed);
        loop {
            let taken = whole(bytes).min(left);
            if taken <= 0 && bytes > 0 {
                return Err(Spent);
            }
            let (set, load) = (Ordering::Relaxed, Ordering::Relaxed);
            match sum.compare_exchange_weak(left, left - taken, set, load) {
                Ok(_) => return Ok(taken.unsigned_abs()),
                Err(now) => left = now,
            }
        }
    }

    /// Returns bytes that were taken and not moved.
    pub(super) fn give_back(&self, bytes: u64) {
        if let Some(sum) = self.0.as_ref().filter(|_| bytes > 0) {
            sum.fetch_add(whole(bytes), Ordering::Relaxed);
        }
    }

    /// The remainder less this many bytes; below 0 if there were fewer.
    fn subtract(&self, bytes: u64) -> Option<i64> {
        let bytes = whole(bytes);
        let before = self.0.as_ref()?.fetch_sub(bytes, Ordering::Relaxed);
        Some(before.saturating_sub(bytes))
    }
}

fn whole(bytes: u64) -> i64 {
    // Far more than any load moves, and far from where the sum would wrap.
    const MAX: u64 = 1 << 52;
    bytes.min(MAX) as i64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::{sync::Arc, thread};

    use super::*;

    #[test]
    fn unavailable_bytes_are_not_taken() {
        let budget = Budget::new(Some(100));
        budget.spend(60).unwrap();
        assert_eq!(budget.left(), Some(40));
        assert!(budget.reserve(41).is_err());
        assert_eq!(budget.left(), Some(40));
        assert_eq!(budget.take_up_to(30), Ok(30));
        assert_eq!(budget.take_up_to(30), Ok(10));
        assert_eq!(budget.take_up_to(30), Err(Spent));
        budget.give_back(5);
        assert_eq!(budget.take_up_to(30), Ok(5));
        // Bytes moved count, also beyond the limit.
        assert!(budget.spend(1).is_err());
        assert_eq!(budget.left(), Some(0));
    }

    #[test]
    fn without_a_bound_nothing_is_too_much() {
        let budget = Budget::new(None);
        for _ in 0..10 {
            budget.spend(u64::MAX).unwrap();
            budget.reserve(u64::MAX).unwrap();
            assert_eq!(budget.take_up_to(u64::MAX), Ok(u64::MAX));
        }
        assert_eq!(budget.left(), None);
    }

    #[test]
    fn no_amount_brings_a_spent_sum_back() {
        let budget = Budget::new(Some(u64::MAX));
        assert!(budget.left().unwrap() > 1 << 62);
        let budget = Budget::new(Some(10));
        for _ in 0..100 {
            assert!(budget.spend(u64::MAX).is_err());
            assert!(budget.reserve(u64::MAX).is_err());
        }
        assert_eq!(budget.left(), Some(0));
    }

    #[test]
    fn many_threads_get_no_more_than_there_is() {
        let budget = Arc::new(Budget::new(Some(1000)));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let budget = budget.clone();
                thread::spawn(move || {
                    let taken = (0..1000).map(|_| budget.take_up_to(3).unwrap_or(0));
                    taken.sum::<u64>()
                })
            })
            .collect();
        let sum: u64 = threads.into_iter().map(|t| t.join().unwrap()).sum();
        assert_eq!(sum, 1000);
    }
}
