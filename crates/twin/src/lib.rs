//! Twins of Runs: lab paths that behave like the measured one, with their uncertainty and their
//! predictions of figures left out.
//!
//! [`Fit::prepare`] is arithmetic: the properties that follow from the Run directly ([`moments`]),
//! or the measurements it lacks, and the cost of a search. [`Fit::search`] then runs the plan of
//! the Run on candidate paths, by the given [`Bench`], and keeps those that the Run cannot
//! distinguish (history matching: a path is ruled out, never proved). Figures left out by rotation
//! are predicted, and the verdict is based on those predictions.
//!
//! [`Trials`] tries remedies on the members of a Twin, each compared with no change for the same
//! seeds, and names the best one, and those without effect, with reasons.
//!
//! The same Run and budget give the same Twin: every choice comes from the Run, and time is counted
//! by a model of the cost, never by a clock.

mod advise;
mod budget;
mod candidate;
mod cost;
mod course;
mod design;
mod document;
mod ends;
mod error;
mod fit;
mod held_out;
mod input;
pub mod moments;
mod plan;
pub mod policing;
mod search;
mod spread;
mod statistics;
mod tokens;
mod unsteady;
mod verdict;

pub use advise::{Objective, Trials, outcome, stated, turns};
pub use budget::{Budget, searched};
pub use error::{Missing, TwinError};
pub use fit::Fit;
pub use model::job::{Bench, Outcome, Stopped};
