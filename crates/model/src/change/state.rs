//! States of a Change and their order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// State of a Change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// Old values were read, nothing was written.
    Planned,
    /// The keeper runs; nothing was written.
    Armed,
    /// This step is being written; those before it are.
    Applying {
        /// Index of the step.
        step: usize,
    },
    /// All steps are written; it is undone at the deadline.
    Applied,
    /// New connections work; it is undone at a later deadline.
    Verified,
    /// It stays until the next boot.
    Confirmed,
    /// It stays; files hold it.
    Persisted,
    /// This step is being undone; those after it are.
    RollingBack {
        /// Index of the step.
        step: usize,
    },
    /// All old values are back.
    RolledBack,
    /// All steps were tried; these did not go back.
    RollbackFailed {
        /// Index of the first of them.
        step: usize,
        /// The failure.
        error: String,
    },
}

impl State {
    /// Returns true if a Change in this state may go to `next`.
    pub fn may_become(&self, next: &State) -> bool {
        use State as S;
        let forward = match (self, next) {
            (S::Planned, S::Armed)
            | (S::Armed, S::Applying { step: 0 })
            | (S::Applying { .. }, S::Applied)
            | (S::Applied | S::Verified, S::Verified | S::Confirmed)
            | (S::Confirmed, S::Persisted) => true,
            (S::Applying { step }, S::Applying { step: next }) => *next == step + 1,
            (S::RollingBack { step }, S::RollingBack { step: next }) => next <= step,
            _ => false,
        };
        let back = match next {
            S::RollingBack { .. } => !matches!(self, S::RolledBack | S::RollingBack { .. }),
            // A boot undoes everything, whatever was being done.
            S::RolledBack => *self != S::RolledBack,
            S::RollbackFailed { .. } => matches!(self, S::RollingBack { .. }),
            _ => false,
        };
        forward || back
    }

    /// Returns true if it is neither kept nor undone yet.
    pub fn is_pending(&self) -> bool {
        !matches!(
            self,
            State::Confirmed | State::Persisted | State::RolledBack | State::RollbackFailed { .. }
        )
    }

    /// Returns true if its settings stay.
    pub fn is_kept(&self) -> bool {
        matches!(self, State::Confirmed | State::Persisted)
    }

    /// Returns how many steps, from the first, may have been written out of `all`.
    pub fn written(&self, all: usize) -> usize {
        match self {
            State::Planned | State::Armed | State::RolledBack => 0,
            State::Applying { step } | State::RollingBack { step } => (step + 1).min(all),
            State::Applied
            | State::Verified
            | State::Confirmed
            | State::Persisted
            | State::RollbackFailed { .. } => all,
        }
    }

    /// The step it names.
    pub fn step(&self) -> Option<usize> {
        match self {
            State::Applying { step }
            | State::RollingBack { step }
            | State::RollbackFailed { step, .. } => Some(*step),
            _ => None,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Planned => f.write_str("planned"),
            State::Armed => f.write_str("armed"),
            State::Applying { step } => write!(f, "applying step {}", step + 1),
            State::Applied => f.write_str("applied, not confirmed"),
            State::Verified => f.write_str("applied, connections work, not confirmed"),
            State::Confirmed => f.write_str("confirmed"),
            State::Persisted => f.write_str("confirmed and in files"),
            State::RollingBack { step } => write!(f, "undoing step {}", step + 1),
            State::RolledBack => f.write_str("undone"),
            State::RollbackFailed { step, error } => {
                write!(f, "undone except step {}: {error}", step + 1)
            }
        }
    }
}
