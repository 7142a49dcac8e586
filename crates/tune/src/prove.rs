//! Proof of a Change by its effect: turns with and without it, and the decision.
//!
//! The turns alternate in blocks of two (ABBA), so that a drifting line does not look like an
//! effect. Each turn opens new connections, since settings of a host affect only these.

mod criteria;
mod evidence;
mod judge;

use std::time::Duration;

use model::{
    change::ChangeId,
    proof::{Acted, PROOF_SCHEMA, Proof},
    run::Run,
    text,
    text::Text,
};

use crate::error::TuneError;

pub use criteria::Criteria;

pub(crate) use evidence::{evidence, evidence_of_far};

/// Default number of turns with the change, and as many without: the minimum for a sufficient
/// estimate of the spread within each.
pub const PAIRS: u32 = 4;

/// Time around all turns: connections, switching, the decision at the end.
const AROUND: Duration = Duration::from_secs(120);

/// Time for all turns of a proof, each of at most `turn`.
pub fn room(turn: Duration, pairs: u32) -> Duration {
    turn * (2 * pairs) + AROUND
}

/// Error of a measurement.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct MeasureError {
    /// The reason, for reports in any language.
    pub text: Text,
    /// The error of the code that carried it out, if it was an error.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl MeasureError {
    /// The error of the code that carried it out, with its text.
    pub fn new(text: Text, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            text,
            source: Some(source.into()),
        }
    }
}

/// The run of a turn, unless it was cut short, which makes it incomparable.
///
/// # Errors
/// The reason why it was cut short.
pub fn whole(run: Run) -> Result<Run, MeasureError> {
    match &run.cut_short {
        Some(why) => Err(MeasureError {
            text: why.clone(),
            source: None,
        }),
        None => Ok(run),
    }
}

/// A path on which a change can be switched and measured.
pub(crate) trait Turns {
    /// Applies the change, or sets it aside.
    ///
    /// # Errors
    /// The change could not be switched; it is undone then.
    fn set(&mut self, on: bool) -> Result<(), TuneError>;

    /// Measures the path in its present state.
    ///
    /// # Errors
    /// The measurement failed.
    fn measure(&mut self) -> Result<Run, MeasureError>;

    /// Returns evidence that the settings acted during a measurement with the change.
    fn evidence(&mut self, run: &Run) -> Vec<Acted>;
}

/// Reason for the lack of a proof. The change is pending or undone.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum ProveError {
    /// The change could not be switched.
    Switch(#[from] TuneError),
    /// A measurement failed.
    Measure {
        /// Its number, from 1.
        turn: usize,
        /// The error.
        #[source]
        error: MeasureError,
    },
}

impl ProveError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Switch(error) => error.text(),
            Self::Measure { turn, error } => text!(
                "the measurement of turn {turn} failed: {error}",
                turn = *turn,
                error = error.text.clone()
            ),
        }
    }
}

/// Measures in turns and decides. The change is applied at the start and at the end.
///
/// # Errors
/// The change could not be switched, or a measurement failed.
pub(crate) fn prove(
    turns: &mut dyn Turns,
    ids: &[ChangeId],
    order: Order,
    criteria: &Criteria,
) -> Result<Proof, ProveError> {
    let order = order.turns(criteria.pairs);
    let (mut without, mut with, mut acted) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_on = true;
    for (turn, &on) in order.iter().enumerate() {
        if on != is_on {
            turns.set(on)?;
            is_on = on;
        }
        let run = turns.measure().map_err(|error| ProveError::Measure {
            turn: turn + 1,
            error,
        })?;
        let measured = compare::Measured::of(&run);
        if on {
            with.push(measured);
            acted.push(turns.evidence(&run));
        } else {
            without.push(measured);
        }
    }
    if !is_on {
        turns.set(true)?;
    }
    let comparison = compare::compare(
        ("without", &without),
        ("with", &with),
        &compare::Options::default(),
    );
    let acted = evidence::together(&acted);
    let judged = judge::judge(&comparison, &acted, criteria);
    Ok(Proof {
        schema: PROOF_SCHEMA,
        program: criteria.program.clone(),
        changes: ids.to_vec(),
        goal: criteria.goal,
        decision: judged.decision,
        text: judged.text,
        acted,
        figures: judged.figures,
        turns: order,
        comparison,
    })
}

/// Order of the turns with and without a change; their numbers are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Without, with, with, without, and so on.
    Alternating,
    /// All without, then all with: for a change that can be switched only once.
    OneAfterOther,
}

impl Order {
    fn turns(self, pairs: u32) -> Vec<bool> {
        let is_on = |turn: u32| match self {
            Self::Alternating => (turn / 2) % 2 != turn % 2,
            Self::OneAfterOther => turn >= pairs,
        };
        (0..2 * pairs).map(is_on).collect()
    }
}

#[cfg(test)]
mod tests;
