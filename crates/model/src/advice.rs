//! The Advice: remedies that were tried on a Twin, and their effects there.
//!
//! Every line names the results in the lab behind it. Remedies that the lab cannot try are listed
//! separately and never ranked. An Advice names no host and no address, except in remedies of the
//! findings.

mod figure;
pub mod guards;
mod keep;
mod outcome;

use serde::{Deserialize, Serialize};

use crate::{
    capacity::PathCapacity,
    net::{Direction, Side},
    remedy::Remedy,
    text,
    text::Text,
    twin::TwinVerdict,
};

pub use figure::{AdviceFigure, UnknownAdviceFigure};
pub use keep::{Bound, Keep, KeepError, Kept};
pub use outcome::Outcome;

/// Version of [`Advice`].
pub const ADVICE_SCHEMA: u32 = 1;

/// Predicted effects of remedies on a Twin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// [`ADVICE_SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of the program that tried them.
    pub program: String,
    /// Name of the Run behind the Twin.
    pub run: String,
    /// Permitted use of the Twin.
    pub twin: TwinVerdict,
    /// The goal requested.
    pub goal: Goal,
    /// Bounds that the user set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Keep>,
    /// The answer in one sentence.
    #[serde(alias = "says")]
    pub text: Text,
    /// Index in `tried` of the advised remedy; absent = change nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advised: Option<usize>,
    /// The measurement that would decide, if members disagree on the best remedy or nothing can be
    /// advised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<Text>,
    /// Capacity of the path; absent directions are unlimited or were not measured.
    #[serde(default, skip_serializing_if = "PathCapacity::is_unknown")]
    pub capacity: PathCapacity,
    /// The path without any change.
    pub unchanged: Unchanged,
    /// Candidates tried, best first, including those without effect.
    pub tried: Vec<Tried>,
    /// Remedies the lab cannot try; not ranked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_tried: Vec<NotTried>,
    /// Effects the numbers do not include.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text>,
    /// Runs in the lab, those from the cache included.
    pub runs: usize,
    /// Runs in the lab that failed.
    pub failed: usize,
}

/// Figure to improve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Goodput and loaded latency alike.
    #[default]
    Balanced,
    /// Goodput, within the guards on latency.
    Throughput,
    /// Loaded latency, at a small cost in goodput.
    Latency,
}

/// The path without any change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unchanged {
    /// Outcomes of one flow.
    pub outcomes: Vec<Outcome>,
    /// Names of the results behind it: BLAKE3, the first 16 digits.
    pub runs: Vec<String>,
}

/// A candidate that was tried: one remedy, or several together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// In a few words.
    pub name: Text,
    /// Origin of the remedy.
    pub origin: Origin,
    /// Remedies applied, in this order.
    pub remedies: Vec<Remedy>,
    /// Effect on the goal.
    pub effect: Effect,
    /// Reason why it has no effect here and where it would help, the part that has an effect, or
    /// its cost.
    #[serde(
        rename = "text",
        alias = "says",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub texts: Vec<Text>,
    /// Outcomes of one flow with it.
    pub outcomes: Vec<Outcome>,
    /// Changes against the path without it, pair by pair of member and seed.
    pub changes: Vec<Change>,
    /// Value for the goal: median over the pairs of the logarithm of a ratio; 0 = no change.
    pub worth: f64,
    /// The largest shortfall of any member from its best remedy: logarithm of a ratio.
    pub regret: f64,
    /// Goodput of a cubic flow beside one flow with this remedy, over that beside one without;
    /// absent = not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub competitor: Vec<Change>,
    /// Pairs of member and seed that it was tried on.
    pub pairs: usize,
    /// Names of the results behind it: BLAKE3, the first 16 digits.
    pub runs: Vec<String>,
}

impl Tried {
    /// Returns true if any of its remedies is applied on this side.
    pub fn is_on(&self, side: Side) -> bool {
        let mut all = self.remedies.iter();
        all.any(|remedy| remedy.on.side() == Some(side))
    }
}

/// Origin of a tried remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A finding of the Run.
    Finding,
    /// A recipe that people copy.
    Recipe,
    /// A part of a recipe.
    Part,
    /// Two candidates that help, applied together.
    Pair,
}

/// Ratio to the value without the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Direction of the data.
    pub direction: Direction,
    /// The figure that changes.
    pub figure: AdviceFigure,
    /// Median over the pairs.
    pub ratio: f64,
    /// Lower bound of the interval over pairs, widened by the twin's error on held-out figures.
    pub low: f64,
    /// Its upper bound.
    pub high: f64,
}

/// Effect of a remedy on the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Better on every member.
    Helps,
    /// Better, but a guard does not hold.
    HelpsAtACost,
    /// Better on some members only.
    Unsure,
    /// No change beyond chance.
    Nothing,
    /// Worse.
    Harms,
}

/// A remedy that the lab cannot try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotTried {
    /// In a few words.
    pub name: Text,
    /// Reason why it was not tried, or what is known about it.
    pub why: Text,
    /// The remedy, if it is one of the findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

/// Error reading an Advice document.
#[derive(Debug, thiserror::Error)]
pub enum AdviceError {
    /// Not an Advice.
    #[error("not an advice: {0}")]
    Format(#[from] serde_json::Error),
    /// Written by a later version.
    #[error(
        "the advice has schema {0}, and this program knows up to {ADVICE_SCHEMA}: update pathtwin"
    )]
    Newer(u32),
    /// The advised index is not an index of the candidates tried.
    #[error("the advice names candidate {0} of {1}")]
    Advised(usize, usize),
}

impl Advice {
    /// An Advice about a Run of which there is no twin: nothing was tried, nothing is advised.
    pub fn untried(run: &str, program: &str, goal: Goal, keep: &[Keep]) -> Self {
        Self {
            schema: ADVICE_SCHEMA,
            program: program.to_owned(),
            run: run.to_owned(),
            twin: TwinVerdict::DoesNotFit,
            goal,
            keep: keep.to_vec(),
            text: text!("nothing was tried in the lab"),
            advised: None,
            settle: None,
            capacity: PathCapacity::default(),
            unchanged: Unchanged {
                outcomes: Vec::new(),
                runs: Vec::new(),
            },
            tried: Vec::new(),
            not_tried: Vec::new(),
            notes: Vec::new(),
            runs: 0,
            failed: 0,
        }
    }

    /// Reads an Advice from JSON.
    ///
    /// # Errors
    /// The text is not an Advice, was written by a later version, or advises a remedy that was not
    /// tried.
    pub fn parse(text: &[u8]) -> Result<Self, AdviceError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_slice(text)?;
        if version.schema > ADVICE_SCHEMA {
            return Err(AdviceError::Newer(version.schema));
        }
        let advice: Self = serde_json::from_slice(text)?;
        match advice.advised {
            Some(place) if place >= advice.tried.len() => {
                Err(AdviceError::Advised(place, advice.tried.len()))
            }
            _ => Ok(advice),
        }
    }

    /// Returns the advised candidate; `None` is to change nothing.
    pub fn advised(&self) -> Option<&Tried> {
        self.tried.get(self.advised?)
    }
}

impl Tried {
    /// Returns the change of a figure in a direction.
    pub fn change(&self, direction: Direction, figure: AdviceFigure) -> Option<&Change> {
        let mut all = self.changes.iter();
        all.find(|c| c.direction == direction && c.figure == figure)
    }
}
