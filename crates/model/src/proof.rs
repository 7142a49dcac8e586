//! The proof of a Change by its effect: alternating measurements with and without it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    advice::{self, AdviceFigure, Goal, guards},
    change::ChangeId,
    comparison::{Comparison, Estimate, Verdict},
    net::Direction,
    remedy::Location,
    text,
    text::Text,
};

/// Version of [`Proof`].
pub const PROOF_SCHEMA: u32 = 1;

/// Measured effect of a Change on its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// [`PROOF_SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of the program that measured.
    pub program: String,
    /// The changes, one for each host.
    pub changes: Vec<ChangeId>,
    /// Figure to improve.
    pub goal: Goal,
    /// The decision.
    pub decision: Decision,
    /// The decision in one sentence, with the deciding figures.
    #[serde(alias = "says")]
    pub text: Text,
    /// Evidence for each setting that it acted at all.
    pub acted: Vec<Acted>,
    /// The figures that decide.
    pub figures: Vec<Proved>,
    /// The order of the turns: `true` = with the change.
    pub turns: Vec<bool>,
    /// All figures of the turns without (before) and with it (after).
    pub comparison: Comparison,
}

/// Decision on a Change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is kept.
    Kept,
    /// It is undone: the measurement does not show a gain.
    NoGain,
    /// It is undone: a figure became worse beyond its bound.
    Worse,
    /// It is undone: a setting had no effect, so any difference has another cause.
    DidNotAct,
    /// It is undone: the figures that decide could not be measured.
    CannotTell,
}

impl Decision {
    /// Returns true if the change is kept.
    pub fn is_kept(self) -> bool {
        self == Self::Kept
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept",
            Self::NoGain => "undone: no gain",
            Self::Worse => "undone: something became worse",
            Self::DidNotAct => "undone: it did not act",
            Self::CannotTell => "undone: it could not be judged",
        })
    }
}

/// Evidence that a setting acted while it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Acted {
    /// The setting.
    pub setting: Text,
    /// The host that has it; absent in proofs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Location>,
    /// True if it acted; absent if there is no evidence either way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acted: Option<bool>,
    /// The evidence.
    pub evidence: Text,
}

impl Acted {
    /// The setting and its host.
    pub fn name(&self) -> Text {
        let setting = self.setting.clone();
        match self.on {
            Some(on) => text!("{setting} ({host})", setting = setting, host = on),
            None => setting,
        }
    }
}

/// Role of a figure in the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It is to improve.
    #[serde(alias = "asked")]
    Target,
    /// It must not become worse beyond its bound.
    Guard,
}

/// A figure with its predicted and measured change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proved {
    /// Direction of the data.
    pub direction: Direction,
    /// The figure.
    pub figure: AdviceFigure,
    /// Its role.
    pub role: Role,
    /// Median without the change: bit/s, µs or a share.
    pub without: f64,
    /// Median with it.
    pub with: f64,
    /// With over without, with its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Estimate>,
    /// The verdict of the comparison.
    pub verdict: Verdict,
    /// The ratio that an Advice predicted, with its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Estimate>,
}

impl Proved {
    /// Returns true if it became significantly worse, and beyond its bound ([`guards`]). `all` are
    /// the figures of the same proof.
    pub fn is_beyond(&self, all: &[Self]) -> bool {
        let is_goodput =
            |f: &&Self| f.figure == AdviceFigure::Goodput && f.direction == self.direction;
        let goodput = all.iter().find(is_goodput).and_then(|f| f.ratio);
        let goodput = goodput.map_or(1.0, |ratio| ratio.value);
        self.verdict == Verdict::Worse
            && guards::is_beyond(self.figure, self.without, self.with, goodput)
    }

    /// Returns whether the measured ratio lies in the predicted interval; `None` if one is unknown.
    pub fn as_predicted(&self) -> Option<bool> {
        let (predicted, ratio) = (self.predicted?, self.ratio?);
        Some((predicted.low..=predicted.high).contains(&ratio.value))
    }
}

impl From<&advice::Change> for Estimate {
    fn from(change: &advice::Change) -> Self {
        Self {
            value: change.ratio,
            low: change.low,
            high: change.high,
        }
    }
}

/// Predictions and outcomes of several proofs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// Proofs with a prediction.
    pub proofs: usize,
    /// Proofs whose change was kept.
    pub kept: usize,
    /// By figure, those that were to improve and those that were not.
    pub figures: Vec<Predicted>,
}

/// Predictions of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// The figure.
    pub figure: AdviceFigure,
    /// Role: to be improved, or only guarded.
    pub role: Role,
    /// Number of predictions.
    pub count: usize,
    /// Predictions whose outcome lies in the predicted interval.
    pub within: usize,
    /// Their share of all, 0 to 1.
    pub hit_rate: f64,
    /// Median of outcome over prediction; 1 = as predicted.
    pub ratio: f64,
}

/// Error reading a Proof document.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// Not a Proof.
    #[error("not a proof: {0}")]
    Format(#[from] serde_json::Error),
    /// Written by a later version.
    #[error(
        "the proof has schema {0}, and this program knows up to {PROOF_SCHEMA}: update pathtwin"
    )]
    Newer(u32),
}

impl Proof {
    /// Reads a Proof from JSON.
    ///
    /// # Errors
    /// The text is not a Proof, or was written by a later version.
    pub fn parse(text: &[u8]) -> Result<Self, ProofError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_slice(text)?;
        if version.schema > PROOF_SCHEMA {
            return Err(ProofError::Newer(version.schema));
        }
        Ok(serde_json::from_slice(text)?)
    }
}
