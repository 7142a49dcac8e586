//! `fix` on lab paths with known causes: its changes there, and their effects.
//!
//! A change is kept because of its proof, whose result is therefore biased. The effect is measured
//! once more, with another seed, by a proof whose decision is ignored.

mod score;
mod table;

use model::{
    cause::CauseCode,
    job::ProveOutput,
    proof::{Decision, Proved},
    remedy::Remedy,
    twin::TwinVerdict,
};
use serde::{Deserialize, Serialize};

pub use score::{Score, score};
pub use table::markdown;

/// `fix` on one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fixed {
    /// Name of the scenario.
    pub name: String,
    /// Seed of the path.
    pub seed: u64,
    /// True causes; `healthy` if there are none.
    pub cause: Vec<CauseCode>,
    /// Causes that `explain` found, without remarks.
    pub found: Vec<CauseCode>,
    /// Verdict on the twin; absent if none was searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<TwinVerdict>,
    /// Remedies tried on the hosts, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<Try>,
    /// The last try, repeated with another seed if it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Try>,
}

/// A remedy that was tried on the hosts of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Try {
    /// Its name.
    pub name: String,
    /// Remedies applied.
    pub remedies: Vec<Remedy>,
    /// The decision; absent if there is no proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The figures that decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Proved>,
    /// True if the hosts differed from before although the change was undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_changed: bool,
    /// Reasons for the lack of a proof.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
}

impl Try {
    /// Returns the result of a proof of remedies.
    pub fn of(name: String, remedies: &[Remedy], done: &ProveOutput) -> Self {
        let proof = done.proof.as_ref();
        let refused = done.not_applied.iter().map(ToString::to_string);
        Self {
            name,
            remedies: remedies.to_vec(),
            decision: proof.map(|p| p.decision),
            figures: proof.map(|p| p.figures.clone()).unwrap_or_default(),
            left_changed: !done.left_changed.is_empty(),
            why: done
                .error
                .iter()
                .map(ToString::to_string)
                .chain(refused)
                .collect(),
        }
    }

    fn is_kept(&self) -> bool {
        self.decision.is_some_and(Decision::is_kept)
    }

    /// The figures that became worse beyond their bounds.
    pub fn beyond(&self) -> impl Iterator<Item = &Proved> {
        self.figures.iter().filter(|f| f.is_beyond(&self.figures))
    }
}

impl Fixed {
    /// Returns true if the path is healthy.
    pub fn is_healthy(&self) -> bool {
        self.cause.iter().all(|c| *c == CauseCode::HEALTHY)
    }

    /// Returns the try that was kept.
    pub fn kept(&self) -> Option<&Try> {
        self.tries.last().filter(|last| last.is_kept())
    }
}
