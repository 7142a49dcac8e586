//! Payload bytes that loads may still move: one sum for all that draw from it, so that loads side by
//! side do not each get the whole of what is left.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

/// A sum of bytes. Copies draw from the same one.
#[derive(Clone, Debug, Default)]
pub struct Budget(Option<Arc<AtomicI64>>);

impl Budget {
    /// So many bytes; `None` = without bound.
    pub fn new(bytes: Option<u64>) -> Self {
        let bytes = bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        Self(bytes.map(|bytes| Arc::new(AtomicI64::new(bytes))))
    }

    /// What is left, if there is a bound.
    pub fn left(&self) -> Option<u64> {
        let left = self.0.as_ref()?.load(Ordering::Relaxed);
        Some(u64::try_from(left).unwrap_or(0))
    }

    /// Counts bytes that were moved.
    ///
    /// # Errors
    /// They were more than was left: nothing more may be moved.
    pub fn spend(&self, bytes: u64) -> io::Result<()> {
        match self.take(bytes) {
            Some(left) if left < 0 => Err(spent()),
            _ => Ok(()),
        }
    }

    /// Takes bytes that are to be moved.
    ///
    /// # Errors
    /// They are more than is left, of which nothing is taken then.
    pub fn reserve(&self, bytes: u64) -> io::Result<()> {
        match (self.take(bytes), &self.0) {
            (Some(left), Some(sum)) if left < 0 => {
                sum.fetch_add(whole(bytes), Ordering::Relaxed);
                Err(spent())
            }
            _ => Ok(()),
        }
    }

    /// Takes bytes, or what is left if that is less, until what is returned is dropped.
    pub fn lend(&self, bytes: u64) -> Loan {
        let mut lent = bytes;
        while lent > 0 && self.reserve(lent).is_err() {
            lent = self.left().unwrap_or(lent).min(lent / 2);
        }
        Loan {
            bytes: lent,
            from: self.clone(),
        }
    }

    /// What is left without so many bytes, below 0 if there were fewer.
    fn take(&self, bytes: u64) -> Option<i64> {
        let bytes = whole(bytes);
        let before = self.0.as_ref()?.fetch_sub(bytes, Ordering::Relaxed);
        Some(before.saturating_sub(bytes))
    }
}

/// Bytes that go back when it is dropped.
#[derive(Debug)]
pub struct Loan {
    bytes: u64,
    from: Budget,
}

impl Loan {
    /// How many.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(sum) = &self.from.0 {
            sum.fetch_add(whole(self.bytes), Ordering::Relaxed);
        }
    }
}

fn whole(bytes: u64) -> i64 {
    // Far more than any load moves, and far from where the sum would wrap.
    const MOST: u64 = 1 << 52;
    bytes.min(MOST) as i64
}

fn spent() -> io::Error {
    io::Error::other("the limit of bytes is reached")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::thread;

    use super::*;

    #[test]
    fn copies_draw_from_one_sum() {
        let budget = Budget::new(Some(100));
        let other = budget.clone();
        budget.spend(60).unwrap();
        assert_eq!(other.left(), Some(40));
        // What does not fit is not taken; what was moved counts.
        assert!(other.reserve(41).is_err());
        assert_eq!(budget.left(), Some(40));
        other.reserve(40).unwrap();
        assert!(budget.spend(1).is_err());
        assert_eq!(budget.left(), Some(0));
    }

    #[test]
    fn what_is_lent_comes_back() {
        let budget = Budget::new(Some(100));
        let first = budget.lend(70);
        let second = budget.lend(70);
        assert_eq!(first.bytes(), 70);
        assert!((1..=30).contains(&second.bytes()), "{second:?}");
        let left = 100 - 70 - second.bytes();
        assert_eq!(budget.left(), Some(left));
        drop(first);
        assert_eq!(budget.left(), Some(left + 70));
        drop(second);
        assert_eq!(budget.left(), Some(100));
        assert_eq!(Budget::new(Some(0)).lend(5).bytes(), 0);
        assert_eq!(Budget::default().lend(5).bytes(), 5);
    }

    #[test]
    fn without_a_bound_nothing_is_too_much() {
        let budget = Budget::new(None);
        for _ in 0..10 {
            budget.spend(u64::MAX).unwrap();
            budget.reserve(u64::MAX).unwrap();
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
        let budget = Budget::new(Some(1000));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let budget = budget.clone();
                thread::spawn(move || (0..1000).filter(|_| budget.reserve(1).is_ok()).count())
            })
            .collect();
        let sum: usize = threads.into_iter().map(|t| t.join().unwrap()).sum();
        assert_eq!(sum, 1000);
    }
}
