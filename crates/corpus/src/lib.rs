//! The corpus: scenarios with their true causes, and the results of the rules on them.
//!
//! A scenario is a lab path in the grammar of specs, or a composed [`compose::Scene`]. Its true
//! causes are used only for the score; the rules get the Run.
//!
//! **Training and evaluation are separated by construction.** A scenario whose name hashes to a
//! multiple of three is held out: it is not used for making rules and thresholds. The others run
//! with a seed below [`EVALUATION`] in training and above it in evaluation, so that no Run of the
//! evaluation was seen while rules were written.

pub mod compose;
mod counting;
mod outcome;
mod reliability;
mod scenario;
mod score;
mod text;

pub use counting::{count, source, table};
pub use outcome::{Found, Outcome};
pub use reliability::{Point, reliability};
pub use scenario::{Composed, EVALUATION, File, Lab, Part, Scenario, ScenarioError, Source};
pub use score::{Bin, Counts, Score, score};
pub use text::markdown;
