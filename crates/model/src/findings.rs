//! The Findings: causes that limit a path, with the evidence.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    capacity::PathCapacity,
    cause::CauseCode,
    net::{Direction, IpVersion, Layer, Side},
    plan::Preset,
    text::Text,
};

pub use crate::{
    remedy::{Location, Remedy, RemedyClass},
    text::Value,
};

mod version_1;

/// Version of [`Findings`].
pub const FINDINGS_SCHEMA: u32 = 2;

/// Result of explaining a Run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// [`FINDINGS_SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of the program that wrote it.
    pub program: String,
    /// Name of the Run.
    pub run: String,
    /// Layer that was analysed: the tunnel if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    /// Address family that was analysed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<IpVersion>,
    /// Capacity of the path; absent directions were not measured.
    #[serde(default, skip_serializing_if = "PathCapacity::is_unknown")]
    pub capacity: PathCapacity,
    /// Summary in one sentence.
    pub summary: Text,
    /// Causes that apply, most important first.
    pub findings: Vec<Finding>,
    /// Causes that were ruled out, with the reason.
    #[serde(default)]
    pub ruled_out: Vec<RuledOut>,
    /// Causes that this Run cannot decide, and the measurements that would.
    #[serde(default)]
    pub cannot_tell: Vec<CannotTell>,
}

impl Findings {
    /// The highest severity among the findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.severity).max()
    }

    /// The findings that cost something, most important first.
    pub fn problems(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.is_problem())
    }

    /// The finding that every report begins with: the most important problem, or the first finding
    /// where nothing costs anything.
    pub fn main(&self) -> Option<&Finding> {
        self.problems().next().or_else(|| self.findings.first())
    }

    /// The problems beside [`Self::main`].
    pub fn others(&self) -> impl Iterator<Item = &Finding> {
        self.problems().skip(1)
    }

    /// Returns true if no cause was found of what the path lacks, if it lacks anything.
    pub fn names_no_cause(&self) -> bool {
        self.problems().next().is_none()
    }

    /// Returns true if the finding is that nothing limits the path.
    pub fn is_healthy(&self) -> bool {
        self.names_no_cause() && self.findings.iter().any(|f| f.code == CauseCode::HEALTHY)
    }
}

impl Finding {
    /// Returns true if it costs something; informational findings do not.
    pub fn is_problem(&self) -> bool {
        self.severity > Severity::Info
    }
}

/// One cause that applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Code of the cause.
    pub code: CauseCode,
    /// Short title.
    pub title: Text,
    /// Severity.
    pub severity: Severity,
    /// Probability that the cause is present, 0 to 1, calibrated on the corpus for findings of this
    /// strength.
    pub confidence: f64,
    /// Location.
    #[serde(flatten)]
    pub place: Place,
    /// Description in one sentence, with figures.
    #[serde(rename = "says")]
    pub text: Text,
    /// Evidence.
    pub evidence: Vec<EvidenceItem>,
    /// Remedies, most effective first.
    pub remedies: Vec<Remedy>,
    /// Codes of findings listed above this one that could explain it and should be fixed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<CauseCode>,
    /// Measurement that would confirm or refute it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<Text>,
}

/// Location of a finding; absent fields are not relevant to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Affected direction of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Affected host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Side>,
}

/// The next step for a path. It follows from the Findings and is not stored with them.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// To apply a remedy.
    Remedy(Box<Remedy>),
    /// To measure.
    Measure {
        /// The measurement that settles it.
        settle: Text,
        /// Number of the open causes that it decides.
        decides: usize,
        /// The longer plan that measures more of the same path; absent = there is none.
        longer: Option<Preset>,
    },
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Informational.
    Info,
    /// Small cost, or a cost under other loads.
    Low,
    /// Noticeable loss of throughput or latency.
    Medium,
    /// The main limit of the path.
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

/// One item of evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceItem {
    /// Name.
    pub name: Text,
    /// Its value.
    pub value: Value,
    /// The threshold it was compared with: `above 15 %`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Text>,
    /// True if it is decisive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decides: bool,
    /// The formula it was computed by, with its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<Text>,
    /// Numbers of the Run's samples it is based on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<u32>,
    /// The host whose facts or counters it is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Side>,
}

/// A cause that was ruled out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuledOut {
    /// Code of the cause.
    pub code: CauseCode,
    /// Place on the path.
    #[serde(flatten)]
    pub place: Place,
    /// Reason, with the figure.
    pub why: Text,
}

/// A cause that can be neither confirmed nor ruled out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CannotTell {
    /// Code of the cause.
    pub code: CauseCode,
    /// Place on the path.
    #[serde(flatten)]
    pub place: Place,
    /// Missing or contradictory data.
    pub because: Text,
    /// Measurement that would decide it.
    pub settle: Text,
}

/// Error reading a Findings document.
#[derive(Debug, thiserror::Error)]
pub enum FindingsError {
    /// Not a Findings document.
    #[error("not findings: {0}")]
    Format(#[from] serde_json::Error),
    /// Written by a later version.
    #[error(
        "the findings have schema {0}, and this program knows up to {FINDINGS_SCHEMA}: update pathtwin"
    )]
    Newer(u32),
}

impl Findings {
    /// Reads Findings of any schema up to [`FINDINGS_SCHEMA`] from JSON.
    ///
    /// # Errors
    /// The text is not a Findings document, or its schema is newer than this program.
    pub fn parse(text: &[u8]) -> Result<Self, FindingsError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_slice(text)?;
        match version.schema {
            newer if newer > FINDINGS_SCHEMA => Err(FindingsError::Newer(newer)),
            0 | 1 => Ok(Self {
                schema: FINDINGS_SCHEMA,
                ..serde_json::from_value(version_1::upgraded(text)?)?
            }),
            _ => Ok(serde_json::from_slice(text)?),
        }
    }
}
