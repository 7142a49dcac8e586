//! How one set of runs differs from another: the Comparison.

use serde::{Deserialize, Serialize};

use crate::run::{Better, FigureKind, Key};

/// Version of [`Comparison`].
pub const COMPARISON_SCHEMA: u32 = 1;

/// What changed from one set of runs to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`] of the writer.
    pub schema: u32,
    /// The runs that are compared with.
    pub before: RunSet,
    /// The runs that are judged.
    pub after: RunSet,
    /// The smallest change that matters, as a share; of shares such as loss, see
    /// [`Comparison::share_threshold`].
    pub threshold: f64,
    /// The smallest change of a share that matters.
    pub share_threshold: f64,
    /// One line for each figure that both sets have.
    pub lines: Vec<Compared>,
    /// What only the first set measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_before: Vec<Key>,
    /// What only the second set measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_after: Vec<Key>,
    /// What to know before trusting it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Comparison {
    /// Lines with a verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Compared> {
        self.lines.iter().filter(move |l| l.verdict == verdict)
    }

    /// Whether a figure became worse.
    pub fn regressed(&self) -> bool {
        self.with(Verdict::Worse).next().is_some()
    }
}

/// One set of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSet {
    /// What it was called, such as `last:5`.
    pub name: String,
    /// Ids of the runs, in the order of time.
    pub runs: Vec<String>,
}

/// One figure in both sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// What was run.
    pub key: Key,
    /// The figure. A line of a kind that only a later version knows makes the document unreadable:
    /// left out, its verdict would be lost without a word.
    pub kind: FigureKind,
    /// Which way is better.
    pub better: Better,
    /// What was counted.
    pub unit: Unit,
    /// Values before.
    pub before: Values,
    /// Values after.
    pub after: Values,
    /// After over before; absent where a value is 0, or the values are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Estimate>,
    /// After less before; there where no ratio can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Estimate>,
    /// The chance of such a difference if nothing changed; absent if the values are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The same, corrected for the number of figures that were compared. Those that changed too
    /// little to matter count with 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_corrected: Option<f64>,
    /// What to make of it.
    pub verdict: Verdict,
}

/// What a value of a comparison is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// One sample. Differences from run to run are then not known.
    Samples,
    /// The median of one run.
    Runs,
}

/// Values of one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// How many.
    pub n: usize,
    /// Median.
    pub median: f64,
}

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What to make of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It changed for the worse, by more than the threshold, and not by chance.
    Worse,
    /// It changed for the better, by more than the threshold, and not by chance.
    Better,
    /// If it changed at all, then by less than the threshold.
    Same,
    /// The values do not say.
    CannotTell,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Same => "same",
            Self::CannotTell => "cannot tell",
        })
    }
}
