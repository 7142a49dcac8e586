//! Queries of a history: document kinds, lists, series of figures, and changes in them.

mod kept;
mod name;

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{text, text::Text};

pub use kept::{HOST, is_kept, labels_of};
pub use name::{FigureName, Named, StepName};

/// Kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Measurements.
    Run,
    /// Causes found in a Run.
    Findings,
    /// Remedies and their predicted effects.
    Advice,
    /// Changes applied to a host.
    Change,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Run, Self::Findings, Self::Advice, Self::Change];

    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Findings => "findings",
            Self::Advice => "advice",
            Self::Change => "change",
        }
    }

    /// Its name in sentences.
    pub fn text(self) -> Text {
        match self {
            Self::Run => text!("run"),
            Self::Findings => text!("findings"),
            Self::Advice => text!("advice"),
            Self::Change => text!("change"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Unknown kind of document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a kind of document: run, findings, advice, change")]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

/// A document in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Kind.
    pub kind: Kind,
    /// Id.
    pub id: String,
    /// Its schema version.
    pub schema: u32,
    /// Creation time, µs since 1970.
    pub created_us: u64,
    /// Its path.
    pub path: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its size as text, bytes.
    pub size_bytes: u64,
    /// Approximate size in the history, bytes.
    pub stored_bytes: u64,
}

/// Identity of a series.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SeriesName {
    /// The path.
    pub path: String,
    /// Step that was run.
    pub step: StepName,
    /// Kind of figure.
    pub figure: FigureName,
}

impl SeriesName {
    /// Returns true if it is of this figure, and the name of its step contains all of the words
    /// that a user searches for.
    pub fn matches(&self, figure: Option<&FigureName>, search: Option<&str>) -> bool {
        let name = self.step.to_string();
        let words = |text| str::split(text, [' ', '/']).filter(|word| !word.is_empty());
        let has = |word: &str| words(&name).any(|own| own == word);
        figure.is_none_or(|figure| *figure == self.figure)
            && search.is_none_or(|search| words(search).all(has))
    }
}

/// One run in a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Id of the run.
    pub run: String,
    /// Start time, µs since 1970.
    pub created_us: u64,
    /// Number of samples.
    pub n: u64,
    /// Their median.
    pub median: f64,
    /// The 95 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Its upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Point {
    /// A point of a single sample without an interval, outside of any history.
    pub fn of(run: &str, created_us: u64, median: f64) -> Self {
        Self {
            run: run.to_owned(),
            created_us,
            n: 1,
            median,
            low: None,
            high: None,
        }
    }
}

/// A lasting change in a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trend {
    /// The series.
    #[serde(flatten)]
    pub series: SeriesName,
    /// The first run after the change, by the best estimate.
    pub run: String,
    /// Time of the change, µs since 1970.
    pub at_us: u64,
    /// The run that made it certain.
    pub found: String,
    /// Median before, since the change before this one.
    pub before: f64,
    /// Median after, until the next change.
    pub after: f64,
    /// After over before, less one; absent if it was 0 before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// The facts that changed near that run.
    pub facts: Vec<FactChange>,
}

/// A fact that differs from its earlier value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FactChange {
    /// Its name, such as `near.congestion.default`, or `label.NAME`.
    pub fact: String,
    /// Before; absent if it was not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// After.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The first run with the new value.
    pub run: String,
}
