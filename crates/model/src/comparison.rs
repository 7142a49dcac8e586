//! The Comparison: differences between two sets of runs.

use serde::{Deserialize, Serialize};

use crate::{
    run::{Better, FigureKind, Key},
    text::Text,
};

/// Version of [`Comparison`].
pub const COMPARISON_SCHEMA: u32 = 1;

/// Differences between two sets of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`] of the writer.
    pub schema: u32,
    /// The baseline runs.
    pub before: RunSet,
    /// The runs compared with the baseline.
    pub after: RunSet,
    /// Smallest relevant change, relative; for shares such as loss see
    /// [`Comparison::share_threshold`].
    pub threshold: f64,
    /// Smallest relevant change of a share, absolute.
    pub share_threshold: f64,
    /// One line per figure that both sets have.
    pub lines: Vec<Compared>,
    /// Measured only by the first set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_before: Vec<Key>,
    /// Measured only by the second set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_after: Vec<Key>,
    /// Reason why no throughput is compared although either set tried to measure it: the comparison
    /// then says nothing about its usual subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_throughput: Option<Text>,
    /// Caveats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text>,
}

impl Comparison {
    /// Lines with a verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Compared> {
        self.lines.iter().filter(move |l| l.verdict == verdict)
    }

    /// Returns true if any figure became worse.
    pub fn regressed(&self) -> bool {
        self.with(Verdict::Worse).next().is_some()
    }
}

/// One set of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSet {
    /// Its selector, such as `last:5`.
    pub name: String,
    /// Ids of the runs, in chronological order.
    pub runs: Vec<String>,
}

/// One figure in both sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The measurement.
    pub key: Key,
    /// The figure. A kind unknown to this version makes the document unreadable: skipping the line
    /// would silently drop its verdict.
    pub kind: FigureKind,
    /// Direction of improvement.
    pub better: Better,
    /// Unit of the values.
    pub unit: Unit,
    /// Values before.
    pub before: Values,
    /// Values after.
    pub after: Values,
    /// After over before; absent if a value is 0 or there are too few values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Estimate>,
    /// After minus before; present where no ratio exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Estimate>,
    /// p-value: probability of such a difference if nothing changed; absent if there are too few
    /// values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// p-value corrected for the number of compared figures. Figures whose change is below the
    /// threshold count with p = 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_corrected: Option<f64>,
    /// Verdict.
    pub verdict: Verdict,
}

/// Unit of one value of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// One sample. The variation between runs is then unknown.
    Samples,
    /// The median of one run.
    Runs,
}

/// Values of one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// Number of values.
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

/// Verdict on a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Significantly worse, by more than the threshold.
    Worse,
    /// Significantly better, by more than the threshold.
    Better,
    /// Any change is smaller than the threshold.
    Same,
    /// The values are inconclusive.
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
