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
    comparison::Comparison,
    proof::{Acted, PROOF_SCHEMA, Proof},
    run::Run,
    text,
    text::Text,
};

use crate::error::TuneError;

use self::judge::Judged;

pub use criteria::Criteria;

pub use evidence::counted;
pub(crate) use evidence::evidence;

/// Default number of turns with the change, and as many without: the minimum for a sufficient
/// estimate of the spread within each.
pub const PAIRS: u32 = 4;

/// Factor of the turns if those planned show a gain that chance can explain: on a line with much
/// jitter or loss, four pairs of bbr varied by more than it gained, threefold.
const MORE: u32 = 2;

/// Time around all turns: connections, switching, the decision at the end.
const AROUND: Duration = Duration::from_secs(120);

/// Time for all turns of a proof, each of at most `turn`, with those that follow a gain that is not
/// certain.
pub fn room(turn: Duration, pairs: u32) -> Duration {
    turn * (2 * MORE * pairs) + AROUND
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

/// Measures in turns and decides. The change is applied at the start and at the end. If the turns
/// show a gain that chance can explain, as many follow, once.
///
/// # Errors
/// The change could not be switched, or a measurement failed.
pub(crate) fn prove(
    turns: &mut dyn Turns,
    ids: &[ChangeId],
    order: Order,
    criteria: &Criteria,
) -> Result<Proof, ProveError> {
    let mut series = Series::new(turns);
    let planned = order.turns(criteria.pairs);
    series.measure(&planned)?;
    let mut judged = series.judged(criteria);
    if order == Order::Alternating && judged.1.is_open() {
        let all = order.turns(MORE * criteria.pairs);
        series.measure(&all[planned.len()..])?;
        judged = series.judged(criteria);
    }
    series.set(true)?;
    let (comparison, judged) = judged;
    Ok(Proof {
        schema: PROOF_SCHEMA,
        program: criteria.program.clone(),
        changes: ids.to_vec(),
        goal: criteria.goal,
        decision: judged.decision,
        text: judged.text,
        acted: series.acted(),
        figures: judged.figures,
        turns: series.order,
        comparison,
    })
}

/// The turns so far, and what they showed.
struct Series<'a> {
    turns: &'a mut dyn Turns,
    is_on: bool,
    order: Vec<bool>,
    without: Vec<compare::Measured>,
    with: Vec<compare::Measured>,
    acted: Vec<Vec<Acted>>,
}

impl<'a> Series<'a> {
    /// A path with the change applied.
    fn new(turns: &'a mut dyn Turns) -> Self {
        Self {
            turns,
            is_on: true,
            order: Vec::new(),
            without: Vec::new(),
            with: Vec::new(),
            acted: Vec::new(),
        }
    }

    fn set(&mut self, on: bool) -> Result<(), ProveError> {
        if on != self.is_on {
            self.turns.set(on)?;
            self.is_on = on;
        }
        Ok(())
    }

    fn measure(&mut self, order: &[bool]) -> Result<(), ProveError> {
        for &on in order {
            self.set(on)?;
            self.order.push(on);
            let run = self.turns.measure().map_err(|error| ProveError::Measure {
                turn: self.order.len(),
                error,
            })?;
            let measured = compare::Measured::of(&run);
            if on {
                self.with.push(measured);
                self.acted.push(self.turns.evidence(&run));
            } else {
                self.without.push(measured);
            }
        }
        Ok(())
    }

    fn acted(&self) -> Vec<Acted> {
        evidence::together(&self.acted)
    }

    fn judged(&self, criteria: &Criteria) -> (Comparison, Judged) {
        let comparison = compare::compare(
            ("without", &self.without),
            ("with", &self.with),
            &compare::Options::default(),
        );
        let judged = judge::judge(&comparison, &self.acted(), criteria);
        (comparison, judged)
    }
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
