//! States of a Change and their order.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    text,
    text::{Text, Value},
};

/// State of a Change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Confirmed; its files are being written.
    Persisting,
    /// It stays across boots: files hold it.
    Persisted,
    /// Its files are being removed; then its steps are undone.
    Unpersisting,
    /// This step is being undone; those after it are.
    RollingBack {
        /// Index of the step.
        step: usize,
    },
    /// All old values are back.
    RolledBack,
    /// All steps were tried; some could not be undone.
    RollbackFailed {
        /// Index of the first of them.
        step: usize,
        /// The failure.
        error: Text,
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
            | (S::Confirmed | S::Persisting, S::Persisting)
            | (S::Persisting, S::Persisted | S::Confirmed) => true,
            (S::Applying { step }, S::Applying { step: next }) => *next == step + 1,
            (S::RollingBack { step }, S::RollingBack { step: next }) => next <= step,
            _ => false,
        };
        let back = match next {
            S::RollingBack { .. } => !matches!(self, S::RolledBack | S::RollingBack { .. }),
            S::Unpersisting => self.is_kept() || matches!(self, S::RollbackFailed { .. }),
            // A boot undoes everything, in any state.
            S::RolledBack => *self != S::RolledBack,
            S::RollbackFailed { .. } => matches!(self, S::RollingBack { .. }),
            _ => false,
        };
        forward || back
    }

    /// The first schema of a Change that has it.
    pub fn schema(&self) -> u32 {
        match self {
            State::Persisting | State::Unpersisting => 2,
            _ => 1,
        }
    }

    /// Returns true if it is undone unless it is confirmed, or is being undone after that.
    pub fn is_pending(&self) -> bool {
        match self {
            State::Planned
            | State::Armed
            | State::Applying { .. }
            | State::Applied
            | State::Verified
            | State::RollingBack { .. } => true,
            State::Confirmed
            | State::Persisting
            | State::Persisted
            | State::Unpersisting
            | State::RolledBack
            | State::RollbackFailed { .. } => false,
        }
    }

    /// Returns true if its settings stay.
    pub fn is_kept(&self) -> bool {
        matches!(
            self,
            State::Confirmed | State::Persisting | State::Persisted
        )
    }

    /// Returns how many of `all` steps, from the first, may have been written.
    pub fn written(&self, all: usize) -> usize {
        match self {
            State::Planned | State::Armed | State::RolledBack => 0,
            State::Applying { step } | State::RollingBack { step } => (step + 1).min(all),
            State::Applied
            | State::Verified
            | State::Confirmed
            | State::Persisting
            | State::Persisted
            | State::Unpersisting
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

impl State {
    /// The state with its values, for reports in any language.
    pub fn text(&self) -> Text {
        // People count steps from 1.
        let number = |step: &usize| Value::from(step + 1);
        match self {
            State::Planned => text!("planned"),
            State::Armed => text!("armed"),
            State::Applying { step } => text!("applying step {step}", step = number(step)),
            State::Applied => text!("applied, not confirmed"),
            State::Verified => text!("applied, connections work, not confirmed"),
            State::Confirmed => text!("confirmed"),
            State::Persisting => text!("confirmed, its files are being written"),
            State::Persisted => text!("confirmed and in files"),
            State::Unpersisting => text!("its files are being removed"),
            State::RollingBack { step } => text!("undoing step {step}", step = number(step)),
            State::RolledBack => text!("undone"),
            State::RollbackFailed { step, error } => text!(
                "undone except step {step}: {error}",
                step = number(step),
                error = error.clone()
            ),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}
