//! Criteria of a proof.

use model::advice::{Change, Goal, Keep};

/// Criteria that a change must meet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criteria {
    /// Figure to improve.
    pub goal: Goal,
    /// Changes predicted by an Advice; empty = no prediction.
    pub predicted: Vec<Change>,
    /// Bounds that the user set.
    pub keep: Vec<Keep>,
    /// True if the remedy was taken at a cost: bounds for the sake of others are waived
    /// ([`model::advice::guards::is_for_others`]).
    pub at_a_cost: bool,
    /// Turns with the change, and as many without.
    pub pairs: u32,
    /// Version of the program.
    pub program: String,
}

impl Criteria {
    /// Measurements of a proof: in all turns, with the change and without.
    pub fn turns(&self) -> u32 {
        2 * self.pairs
    }
}
