//! What a strength is worth as a probability.
//!
//! Counted on the training scenarios of the corpus: of the findings of a strength, so many were
//! right. The table is reviewed and replaced by hand when rules change; `pathtwin explain --corpus`
//! prints the counts beside it.

use crate::verdict::Strength;

/// Probability that a finding of a strength is right.
pub fn confidence(strength: Strength) -> f64 {
    match strength {
        Strength::Weak => 0.7,
        Strength::Fair => 0.9,
        Strength::Strong => 0.98,
    }
}
