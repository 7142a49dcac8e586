//! The Run: the result of a measurement.
//!
//! Runs from real hosts and from the ends of a lab path have the same form. A Run contains only
//! what a measuring host can see.

mod asked;
mod column;
mod figure;
mod flat;
mod key;
mod kind;
mod packed;
mod results;
mod sample;
mod series;
mod third;
mod unit;

use serde::{Deserialize, Serialize};

pub use asked::Asked;
pub use column::{Column, Shape, UnknownColumn};
pub use figure::{Figure, Pooled, Range, Ratio, Spread};
pub use flat::SampleRow;
pub use key::{Key, StepKind, UnknownKey};
pub use kind::{Better, FigureKind, UnknownFigure};
pub use packed::Packed;
pub use results::{AfterStart, FlowResult, Pmtu, Probes, Short, SizeStep, SweepStep, Tcp, Udp};
pub use sample::{Invalid, Sample, TooShort};
pub use series::{ColumnValues, Series};
pub use third::{SegmentRate, ThirdAnswers, ThirdPoint};
pub use unit::Unit;

use crate::{
    facts::HostFacts,
    net::{IpVersion, Layer},
    plan::Plan,
    text,
    text::Text,
};

/// Version of [`Run`].
pub const RUN_SCHEMA: u32 = 2;

/// The result of a measurement, with hosts, plan and validity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`RUN_SCHEMA`] of the writer.
    pub schema: u32,
    /// Name of this run: 16 hexadecimal digits.
    pub id: String,
    /// Version of the program on the near end.
    pub program: String,
    /// Start time, µs since 1970 by the near end's clock.
    pub started_us: u64,
    /// Duration, s (on a lab path: virtual time).
    pub took_s: f64,
    /// True if it was measured on a lab path in virtual time. Figures that depend on processors are
    /// then meaningless.
    #[serde(default)]
    pub lab: bool,
    /// The spec of the lab path, as it was written, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// The plan, with the seed that was used.
    pub plan: Plan,
    /// The near end, which ran `measure`.
    pub near: End,
    /// The far end, which ran `serve`.
    pub far: End,
    /// Measured layers.
    pub layers: Vec<LayerAddress>,
    /// Requested addresses of the far end that were not reached: nothing is known of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<Unreached>,
    /// How the far end was named; absent on a lab path and in documents of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// The third point that was probed beside the path, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub third: Option<ThirdPoint>,
    /// Missing measurements that affect the verdict, with how to make them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Text>,
    /// All samples, including invalid ones.
    pub samples: Vec<Sample>,
    /// Figures over the valid samples; kinds unknown to this version are skipped when reading.
    #[serde(deserialize_with = "kind::of_known_kinds")]
    pub figures: Vec<Figure>,
    /// Ratios of tunnel to underlay, and of one congestion control to another; unknown kinds are
    /// skipped when reading.
    #[serde(deserialize_with = "kind::of_known_kinds")]
    pub ratios: Vec<Ratio>,
    /// Reason why the run ended early, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<Text>,
    /// Notes, such as skipped steps with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text>,
}

/// One end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Version of the program.
    pub program: String,
    /// Facts before the first step.
    pub facts: HostFacts,
    /// Facts after the last step, if they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts_after: Option<HostFacts>,
}

/// A layer with the addresses of both ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LayerAddress {
    /// The layer.
    pub layer: Layer,
    /// Address family.
    pub family: IpVersion,
    /// Address of the near end.
    pub near: std::net::IpAddr,
    /// Address of the far end.
    pub far: std::net::IpAddr,
}

/// A requested address of the far end that was not reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unreached {
    /// Its layer.
    pub layer: Layer,
    /// The address.
    pub far: std::net::IpAddr,
    /// The error.
    pub why: Text,
}

/// Error of reading a Run.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum RunError {
    /// Not a Run document.
    Format(#[from] serde_json::Error),
    /// Nothing.
    Empty,
    /// Written by a later version.
    Newer(u32),
}

impl RunError {
    /// The error with its values, for reports in any language. Messages of a parser are English.
    pub fn text(&self) -> Text {
        match self {
            Self::Empty => text!("not a run: it is empty"),
            Self::Format(error) if error.is_eof() => text!(
                "the run is cut off, in line {line}: copy or measure it again",
                line = error.line() as u64
            ),
            Self::Format(error) => text!("not a run: {error}", error = error),
            Self::Newer(schema) => text!(
                "the run has schema {schema}, and this program knows up to {known}: update \
                 pathtwin",
                schema = *schema,
                known = RUN_SCHEMA
            ),
        }
    }
}

impl End {
    /// An end with its facts before the first step.
    pub fn new(program: &str, facts: HostFacts) -> Self {
        Self {
            program: program.to_owned(),
            facts,
            facts_after: None,
        }
    }
}

impl Run {
    /// An empty Run of the program on the near end.
    pub fn new(id: String, started_us: u64, plan: Plan, near: End, far: End) -> Self {
        Self {
            schema: RUN_SCHEMA,
            id,
            program: near.program.clone(),
            started_us,
            took_s: 0.0,
            lab: false,
            spec: None,
            plan,
            near,
            far,
            layers: Vec::new(),
            unreached: Vec::new(),
            asked: None,
            third: None,
            caveats: Vec::new(),
            samples: Vec::new(),
            figures: Vec::new(),
            ratios: Vec::new(),
            cut_short: None,
            notes: Vec::new(),
        }
    }

    /// Reads a Run from JSON.
    ///
    /// # Errors
    /// The text is not a Run, or its schema is newer than this program.
    pub fn parse(text: &[u8]) -> Result<Self, RunError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        if text.trim_ascii().is_empty() {
            return Err(RunError::Empty);
        }
        let version: Version = serde_json::from_slice(text)?;
        if version.schema > RUN_SCHEMA {
            return Err(RunError::Newer(version.schema));
        }
        Ok(serde_json::from_slice(text)?)
    }

    /// Default name of the measured path: the far end's underlay address.
    pub fn path(&self) -> String {
        if self.lab {
            return "lab".to_owned();
        }
        let underlay = self.layers.iter().find(|l| l.layer == Layer::Underlay);
        let layer = underlay.or(self.layers.first());
        layer.map_or_else(|| "unknown".to_owned(), |layer| layer.far.to_string())
    }

    /// Valid samples of a key.
    pub fn valid<'a>(&'a self, key: &'a Key) -> impl Iterator<Item = &'a Sample> {
        self.samples
            .iter()
            .filter(move |s| s.valid && s.key == *key)
    }

    /// The figure of a kind for a key.
    pub fn figure(&self, key: &Key, kind: FigureKind) -> Option<&Figure> {
        self.figures
            .iter()
            .find(|f| f.key == *key && f.kind == kind)
    }
}
