//! Objective of an Advice.

use model::advice::{Goal, Keep};

use crate::budget::Budget;

/// Improvement that an Advice is to find, and its limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objective {
    /// Figure to improve.
    pub goal: Goal,
    /// Bounds to keep.
    pub keep: Vec<Keep>,
    /// Budget of the trials.
    pub budget: Budget,
}
