//! Counts of events, with an interval of their rate.

use std::collections::BTreeMap;

use model::{
    comparison::{Comparison, Verdict},
    run::{FigureKind, Key},
};

/// Frequency of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Occurrences.
    pub hits: usize,
    /// Opportunities.
    pub of: usize,
}

impl Count {
    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            of: self.of + other.of,
        }
    }

    pub(crate) fn add(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.of += 1;
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = 100.0 * self.hits as f64 / self.of.max(1) as f64;
        write!(f, "{} of {}", self.hits, self.of)?;
        match stats::wilson(self.hits as u64, self.of as u64) {
            Some(i) => write!(
                f,
                ", {share:.1} % [{:.1}, {:.1}]",
                100.0 * i.low,
                100.0 * i.high
            ),
            None => Ok(()),
        }
    }
}

/// Frequency with which a real regression was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Any of it.
    pub any: Count,
    /// Each step's figure.
    pub each: BTreeMap<Key, Count>,
}

impl Found {
    /// Adds one comparison, where the figures of this kind with the keys `truly` got worse.
    pub(super) fn add(&mut self, comparison: &Comparison, kind: FigureKind, truly: &[Key]) {
        let worse = |key: &Key| {
            comparison
                .with(Verdict::Worse)
                .any(|line| line.kind == kind && line.key == *key)
        };
        self.any.add(truly.iter().any(worse));
        for key in truly {
            self.each.entry(key.clone()).or_default().add(worse(key));
        }
    }

    /// All figures together.
    pub fn all(&self) -> Count {
        let each = self.each.values().copied();
        each.fold(Count::default(), Count::and)
    }
}

/// The share in per cent, without its interval; empty if nothing was counted.
pub(super) fn percent(count: Option<&Count>) -> String {
    let count = count.filter(|count| count.of > 0);
    count.map_or_else(String::new, |count| {
        format!("{:.1}", 100.0 * count.hits as f64 / count.of as f64)
    })
}
