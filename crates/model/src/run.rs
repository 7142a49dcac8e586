//! What was measured: the Run.
//!
//! A Run from two real hosts and one from the ends of a lab path have the same shape. It holds
//! only what a measuring host can see.

mod column;
mod figure;
mod flat;
mod kind;
mod packed;
mod results;
mod sample;
mod series;
mod unit;

use serde::{Deserialize, Serialize};

pub use column::{Column, Shape, UnknownColumn};
pub use figure::{Figure, Ratio, Spread};
pub use flat::SampleRow;
pub use kind::{Better, FigureKind, UnknownFigure};
pub use packed::Packed;
pub use results::{FlowResult, Pmtu, Probes, Short, SizeStep, SweepStep, Tcp, Udp};
pub use sample::{Invalid, Key, Sample, StepKind};
pub use series::{ColumnValues, Series};
pub use unit::Unit;

use crate::{
    facts::HostFacts,
    net::{IpVersion, Layer},
    plan::Plan,
    text::Text,
};

/// Version of [`Run`].
pub const RUN_SCHEMA: u32 = 2;

/// What was measured, by whom, on what, with what validity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`RUN_SCHEMA`] of the writer.
    pub schema: u32,
    /// Name of this run: 16 hexadecimal digits.
    pub id: String,
    /// Version of the program on the near end.
    pub program: String,
    /// When it started, µs since 1970 by the near end's clock.
    pub started_us: u64,
    /// Real time it took, s (of a lab path: virtual time).
    pub took_s: f64,
    /// Whether the ends were those of a lab path, and time virtual. What depends on processors is
    /// then not to be judged.
    #[serde(default)]
    pub lab: bool,
    /// What was asked for, with the seed that was used.
    pub plan: Plan,
    /// The near end: where `measure` ran.
    pub near: End,
    /// The far end: where `serve` ran.
    pub far: End,
    /// The layers that were measured.
    pub layers: Vec<LayerAddress>,
    /// Every step that was run, also those that do not count.
    pub samples: Vec<Sample>,
    /// What the valid samples say together; those of kinds that only a later version knows are left
    /// out when it is read.
    #[serde(deserialize_with = "kind::of_known_kinds")]
    pub figures: Vec<Figure>,
    /// Figures of the tunnel over those of the path below it, and of one congestion control over
    /// another; read as the figures are.
    #[serde(deserialize_with = "kind::of_known_kinds")]
    pub ratios: Vec<Ratio>,
    /// Why the run ended early, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<Text>,
    /// What was left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text>,
}

/// One end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Version of the program.
    pub program: String,
    /// The host before the first step.
    pub facts: HostFacts,
    /// The host after the last step, if something in it had changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts_after: Option<HostFacts>,
}

/// A layer, and the addresses it was measured between.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LayerAddress {
    /// Which.
    pub layer: Layer,
    /// Address family.
    pub family: IpVersion,
    /// Address of the near end.
    pub near: std::net::IpAddr,
    /// Address of the far end.
    pub far: std::net::IpAddr,
}

/// Why a document cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Not a Run at all.
    #[error("not a run: {0}")]
    Format(#[from] serde_json::Error),
    /// Made by a later version.
    #[error("the run has schema {0}, and this program knows up to {RUN_SCHEMA}: update pathtwin")]
    Newer(u32),
}

impl End {
    /// One end, by what is known before the first step.
    pub fn new(program: &str, facts: HostFacts) -> Self {
        Self {
            program: program.to_owned(),
            facts,
            facts_after: None,
        }
    }
}

impl Run {
    /// A Run of which nothing is measured yet, by the program on the near end.
    pub fn new(id: String, started_us: u64, plan: Plan, near: End, far: End) -> Self {
        Self {
            schema: RUN_SCHEMA,
            id,
            program: near.program.clone(),
            started_us,
            took_s: 0.0,
            lab: false,
            plan,
            near,
            far,
            layers: Vec::new(),
            samples: Vec::new(),
            figures: Vec::new(),
            ratios: Vec::new(),
            cut_short: None,
            notes: Vec::new(),
        }
    }

    /// Reads a Run from JSON.
    pub fn parse(text: &[u8]) -> Result<Self, RunError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_slice(text)?;
        if version.schema > RUN_SCHEMA {
            return Err(RunError::Newer(version.schema));
        }
        Ok(serde_json::from_slice(text)?)
    }

    /// Where it was measured, if nobody named that path: the far end's address below all tunnels.
    pub fn path(&self) -> String {
        if self.lab {
            return "lab".to_owned();
        }
        let underlay = self.layers.iter().find(|l| l.layer == Layer::Underlay);
        let layer = underlay.or(self.layers.first());
        layer.map_or_else(|| "unknown".to_owned(), |layer| layer.far.to_string())
    }

    /// The samples that count, of one key.
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
