//! What limits a path, and how that is known: the Findings.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    net::{Direction, IpVersion, Layer, Side},
    text::Text,
};

pub use crate::{
    remedy::{Location, Remedy, RemedyClass},
    text::Value,
};

mod version_1;

/// Version of [`Findings`].
pub const FINDINGS_SCHEMA: u32 = 2;

/// What a Run says of its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// [`FINDINGS_SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of the program that judged.
    pub program: String,
    /// Name of the Run that was judged.
    pub run: String,
    /// Layer that was judged: the tunnel if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    /// Address family that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<IpVersion>,
    /// The whole in one sentence.
    pub summary: Text,
    /// What holds; the first is what to deal with first.
    pub findings: Vec<Finding>,
    /// What does not hold, and how that is known.
    #[serde(default)]
    pub ruled_out: Vec<RuledOut>,
    /// What this Run cannot tell, and what would.
    #[serde(default)]
    pub cannot_tell: Vec<CannotTell>,
}

impl Findings {
    /// The gravest severity among the findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.severity).max()
    }
}

/// One cause that holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name of the cause, such as `receive-window`; each has a page in `docs/causes/`.
    pub code: String,
    /// The cause in a few words.
    pub title: Text,
    /// How much it matters.
    pub severity: Severity,
    /// Probability that this cause is there, 0 to 1: what became of findings of this strength on
    /// the corpus.
    pub confidence: f64,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// One sentence with the figures.
    #[serde(rename = "says")]
    pub text: Text,
    /// The figures it rests on.
    pub evidence: Vec<EvidenceItem>,
    /// What to do; the first is what helps most.
    pub remedies: Vec<Remedy>,
    /// Codes of findings that could produce the same picture, and should be dealt with before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// What measurement would change or settle this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<Text>,
}

/// Where a finding is. What it does not depend on is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Direction of the data it holds for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The host it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Side>,
}

/// How much a cause matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// It costs little, or might under other loads.
    Low,
    /// It costs throughput or latency that people notice.
    Medium,
    /// It is what makes the path slow.
    High,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// One figure of the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceItem {
    /// What it is.
    pub name: Text,
    /// Its value.
    pub value: Value,
    /// What it was held against, in words: `above 15 %`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Text>,
    /// Whether this figure decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decides: bool,
    /// How it was computed, if it was: the formula, with its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<Text>,
    /// Numbers of the samples in the Run that it comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<u32>,
    /// The host whose facts or counters it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Side>,
}

/// A cause that does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuledOut {
    /// Code of the cause.
    pub code: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// Why not, with the figure.
    pub why: Text,
}

/// A cause that can be neither shown nor ruled out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CannotTell {
    /// Code of the cause.
    pub code: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What is missing, or contradicts.
    pub because: Text,
    /// What measurement would settle it.
    pub settle: Text,
}

/// Why a document cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FindingsError {
    /// Not Findings at all.
    #[error("not findings: {0}")]
    Format(#[from] serde_json::Error),
    /// Made by a later version.
    #[error(
        "the findings have schema {0}, and this program knows up to {FINDINGS_SCHEMA}: update pathtwin"
    )]
    Newer(u32),
}

impl Findings {
    /// Reads Findings of any schema up to [`FINDINGS_SCHEMA`] from JSON.
    ///
    /// # Errors
    /// If the text is not Findings, or those of a later program.
    pub fn parse(text: &[u8]) -> Result<Self, FindingsError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_slice(text)?;
        match version.schema {
            newer if newer > FINDINGS_SCHEMA => Err(FindingsError::Newer(newer)),
            0 | 1 => Ok(version_1::read(text)?),
            _ => Ok(serde_json::from_slice(text)?),
        }
    }
}
