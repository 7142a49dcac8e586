//! Budget of a plan: the amount spent by a run, and a test whether a task fits the rest.

use model::{plan::Budget, text, text::Text};

/// Resources that a run has spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spent {
    /// Time since its start, s.
    pub(crate) time_s: f64,
    /// Payload bytes in both directions.
    pub(crate) bytes: u64,
}

/// Cost of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Needs {
    /// From its start to its end, s.
    pub(crate) time_s: f64,
    /// Of that, under full load, s.
    pub(crate) loaded_s: f64,
    /// The rate at which it moves bytes then, bit/s; absent = unknown.
    pub(crate) rate_bps: Option<f64>,
}

/// Returns the reason why a task does not fit the rest of a budget. A task of unknown rate fits as
/// long as anything is left.
pub(crate) fn exceeded(budget: &Budget, spent: Spent, needs: Needs) -> Option<Text> {
    if let Some(most) = budget.time_s
        && needs.time_s > most - spent.time_s
    {
        return Some(text!("the time budget is used up"));
    }
    let left = bytes_left(budget, spent.bytes)?;
    let bytes = needs.rate_bps.unwrap_or(0.0) / 8.0 * needs.loaded_s;
    let none = left == 0 && needs.loaded_s > 0.0;
    (none || bytes > left as f64).then(|| text!("the byte budget is used up"))
}

/// Bytes that a budget still allows; absent = any number.
pub(crate) fn bytes_left(budget: &Budget, spent: u64) -> Option<u64> {
    Some(budget.bytes?.saturating_sub(spent))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget {
        bytes: Some(10_000_000),
        time_s: Some(60.0),
    };

    fn fits(time_s: f64, bytes: u64, rate_bps: Option<f64>) -> bool {
        let spent = Spent { time_s, bytes };
        let needs = Needs {
            time_s: 10.0,
            loaded_s: 8.0,
            rate_bps,
        };
        exceeded(&BUDGET, spent, needs).is_none()
    }

    #[test]
    fn a_task_must_end_within_the_time() {
        assert!(fits(50.0, 0, None));
        assert!(!fits(50.1, 0, None));
    }

    /// 8 s at 8 Mbit/s are 8 MB.
    #[test]
    fn a_task_must_fit_the_bytes_that_are_left() {
        assert!(fits(0.0, 2_000_000, Some(8e6)));
        assert!(!fits(0.0, 2_000_001, Some(8e6)));
    }

    /// Runs with both protocols started such a task without any budget left, and transferred
    /// nothing.
    #[test]
    fn a_task_of_an_unknown_rate_needs_something_left() {
        assert!(fits(0.0, 9_999_999, None));
        assert!(!fits(0.0, 10_000_000, None));
        let idle = Needs {
            time_s: 2.0,
            loaded_s: 0.0,
            rate_bps: None,
        };
        let spent = Spent {
            time_s: 0.0,
            bytes: 10_000_000,
        };
        assert_eq!(exceeded(&BUDGET, spent, idle), None);
    }

    #[test]
    fn no_budget_refuses_nothing() {
        let spent = Spent {
            time_s: 1e9,
            bytes: u64::MAX,
        };
        let needs = Needs {
            time_s: 1e9,
            loaded_s: 1e9,
            rate_bps: Some(1e12),
        };
        assert_eq!(exceeded(&Budget::default(), spent, needs), None);
        assert_eq!(bytes_left(&Budget::default(), 5), None);
    }
}
