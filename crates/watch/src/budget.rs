//! Bytes of a month: reserved before a run, settled after it.
//!
//! Reserved bytes count as spent from that moment on, and are saved before the run starts. A
//! process that is killed in the middle of a run has therefore spent all of its reservation, and no
//! crash makes bytes forgotten.

use std::collections::BTreeMap;

use model::{
    text,
    text::{Text, Value},
};
use serde::{Deserialize, Serialize};

use crate::moment::Month;

/// Number of stored months, so that a clock that jumps ahead and back finds its month again.
const KEPT: usize = 24;

/// Overhead of a run beyond its payload: headers of IP, TCP and a tunnel around it are at most 40 +
/// 32 + 80 bytes of a packet that carries 1200 or more, an eighth.
const HEADERS: u64 = 8;

/// Control of a run, in both directions: session, facts of both hosts, replies with samples, bytes.
const CONTROL: u64 = 1 << 20;

/// The maximum bytes on the line of a run with this much payload.
pub fn cost(payload: u64) -> u64 {
    payload
        .saturating_add(payload / HEADERS)
        .saturating_add(CONTROL)
}

/// The payload of a run that may cost this many bytes on the line; 0 if not even its control fits.
pub fn payload(cost: u64) -> u64 {
    let rest = cost.saturating_sub(CONTROL);
    // Rounded down, so that `cost(payload(x))` is at most x.
    (u128::from(rest) * u128::from(HEADERS) / u128::from(HEADERS + 1)) as u64
}

/// Bytes spent in a month.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Of all paths, bytes.
    pub all: u64,
    /// Of each path by its name, bytes.
    #[serde(default)]
    pub paths: BTreeMap<String, u64>,
}

/// Bytes that a run may cost, and have been charged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub struct Reservation {
    /// The months charged: two, if the run may last beyond the end of the first.
    months: Vec<Month>,
    path: String,
    /// Bytes on the line.
    pub bytes: u64,
}

/// Error when a budget lacks the bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub enum NoBudget {
    /// The budget of all paths.
    All {
        /// The month.
        month: Month,
        /// Bytes left.
        left: u64,
        /// Bytes wanted.
        wanted: u64,
    },
    /// The budget of the path.
    Path {
        /// The path.
        path: String,
        /// The month.
        month: Month,
        /// Bytes left.
        left: u64,
        /// Bytes wanted.
        wanted: u64,
    },
}

impl NoBudget {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        let bytes = |bytes: &u64| Value::Bytes(*bytes as f64);
        match self {
            Self::All {
                month,
                left,
                wanted,
            } => text!(
                "the budget of {month} has {left} left, and {wanted} are needed",
                month = month.to_string(),
                left = bytes(left),
                wanted = bytes(wanted)
            ),
            Self::Path {
                path,
                month,
                left,
                wanted,
            } => text!(
                "the budget of {path} for {month} has {left} left, and {wanted} are needed",
                path = path,
                month = month.to_string(),
                left = bytes(left),
                wanted = bytes(wanted)
            ),
        }
    }
}

/// The account of all months.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger {
    months: BTreeMap<Month, Spent>,
}

impl Ledger {
    /// Returns the bytes spent in a month.
    pub fn spent(&self, month: Month) -> Spent {
        self.months.get(&month).cloned().unwrap_or_default()
    }

    /// Returns the bytes that a month has left: of the budget of all paths, and of that of a path.
    fn left(&self, month: Month, path: &str, (own, all): (Option<u64>, u64)) -> (u64, Option<u64>) {
        let spent = self.spent(month);
        let of_path = spent.paths.get(path).copied().unwrap_or(0);
        let own = own.map(|own| own.saturating_sub(of_path));
        (all.saturating_sub(spent.all), own)
    }

    /// Charges `bytes` to a path in all of `months`, if neither the budget of the path, `own`, nor
    /// that of all paths, `all`, would be exceeded by a byte.
    ///
    /// # Errors
    /// One of the budgets would be exceeded; then nothing is charged.
    pub fn reserve(
        &mut self,
        months: &[Month],
        path: &str,
        bytes: u64,
        (own, all): (Option<u64>, u64),
    ) -> Result<Reservation, NoBudget> {
        for &month in months {
            let (left, of_path) = self.left(month, path, (own, all));
            if bytes > left {
                let wanted = bytes;
                return Err(NoBudget::All {
                    month,
                    left,
                    wanted,
                });
            }
            if let Some(left) = of_path
                && bytes > left
            {
                return Err(NoBudget::Path {
                    path: path.to_owned(),
                    month,
                    left,
                    wanted: bytes,
                });
            }
        }
        for &month in months {
            let spent = self.months.entry(month).or_default();
            spent.all = spent.all.saturating_add(bytes);
            let of_path = spent.paths.entry(path.to_owned()).or_default();
            *of_path = of_path.saturating_add(bytes);
        }
        self.forget();
        Ok(Reservation {
            months: months.to_vec(),
            path: path.to_owned(),
            bytes,
        })
    }

    /// Charges `bytes` likewise, or as many as the budgets have left.
    pub(crate) fn advance(
        &mut self,
        months: &[Month],
        path: &str,
        bytes: u64,
        limits: (Option<u64>, u64),
    ) {
        for &month in months {
            let (left, of_path) = self.left(month, path, limits);
            let bytes = bytes.min(left).min(of_path.unwrap_or(left));
            // Not more than is left, so it is not refused; and it is never settled.
            let _advanced = self.reserve(&[month], path, bytes, limits);
        }
    }

    /// True if whoever goes by this account spends nothing that `other` has spent already.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        other.months.iter().all(|(month, spent)| {
            let own = self.spent(*month);
            let covered = |(path, bytes): (&String, &u64)| own.paths.get(path) >= Some(bytes);
            own.all >= spent.all && spent.paths.iter().all(covered)
        })
    }

    /// Ends a reservation: unused bytes are returned. Bytes beyond the reservation are charged,
    /// too.
    pub fn settle(&mut self, reservation: Reservation, used: u64) {
        let Reservation {
            months,
            path,
            bytes,
        } = reservation;
        let settled = |spent: u64| spent.saturating_sub(bytes).saturating_add(used);
        for month in months {
            let Some(spent) = self.months.get_mut(&month) else {
                continue;
            };
            spent.all = settled(spent.all);
            if let Some(of_path) = spent.paths.get_mut(&path) {
                *of_path = settled(*of_path);
            }
        }
    }

    /// Drops the oldest months.
    fn forget(&mut self) {
        while self.months.len() > KEPT {
            self.months.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    const NOVEMBER: Month = Month(24_322);

    #[test]
    fn the_last_byte_is_there_and_the_next_is_not() {
        let mut ledger = Ledger::default();
        let first = ledger.reserve(&[NOVEMBER], "a", 60, (None, 100)).unwrap();
        let wanted = ledger.reserve(&[NOVEMBER], "b", 41, (None, 100));
        assert!(matches!(wanted, Err(NoBudget::All { left: 40, .. })));
        let second = ledger.reserve(&[NOVEMBER], "b", 40, (None, 100)).unwrap();
        ledger.settle(first, 10);
        assert_eq!(ledger.spent(NOVEMBER).all, 50);
        ledger.settle(second, 40);
        assert_eq!(ledger.spent(NOVEMBER).paths["a"], 10);
        let own = ledger.reserve(&[NOVEMBER], "a", 11, (Some(20), 100));
        assert!(matches!(own, Err(NoBudget::Path { left: 10, .. })));
    }

    #[test]
    fn a_run_over_the_end_of_a_month_counts_in_both() {
        let mut ledger = Ledger::default();
        let december = Month(NOVEMBER.0 + 1);
        let run = ledger
            .reserve(&[NOVEMBER, december], "a", 60, (None, 100))
            .unwrap();
        assert!(ledger.reserve(&[december], "a", 50, (None, 100)).is_err());
        ledger.settle(run, 20);
        assert_eq!(ledger.spent(december).all, 20);
    }

    #[test]
    fn a_clock_that_jumps_and_returns_finds_its_month() {
        let mut ledger = Ledger::default();
        let _held = ledger.reserve(&[NOVEMBER], "a", 90, (None, 100)).unwrap();
        let _later = ledger
            .reserve(&[Month(NOVEMBER.0 + 40)], "a", 90, (None, 100))
            .unwrap();
        assert!(ledger.reserve(&[NOVEMBER], "a", 20, (None, 100)).is_err());
    }

    proptest! {
        #[test]
        fn a_run_costs_no_more_than_was_reserved(bytes in 0u64..1 << 50) {
            let payload = payload(bytes);
            prop_assert!(payload == 0 || cost(payload) <= bytes);
            prop_assert!(bytes < CONTROL + 9 || cost(payload + 2) > bytes);
        }

        /// For any sequence of reservations, uses and crashes (which settle nothing), the sum of
        /// used bytes never exceeds the budget.
        #[test]
        fn no_order_of_runs_spends_more_than_the_budget(
            runs in proptest::collection::vec((0u64..400, 0u64..=100, any::<bool>()), 0..60)
        ) {
            let mut ledger = Ledger::default();
            let mut used = 0;
            for (bytes, share, crash) in runs {
                let Ok(run) = ledger.reserve(&[NOVEMBER], "a", bytes, (None, 1000)) else {
                    continue;
                };
                let part = bytes * share / 100;
                used += part;
                if !crash {
                    ledger.settle(run, part);
                }
                prop_assert!(used <= ledger.spent(NOVEMBER).all);
            }
            prop_assert!(ledger.spent(NOVEMBER).all <= 1000);
        }
    }
}
