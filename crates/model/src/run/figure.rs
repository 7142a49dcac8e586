//! What several samples say together.

use serde::{Deserialize, Serialize};

use super::{FigureKind, Key};

/// A figure over the valid samples of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What was run.
    pub key: Key,
    /// What it is.
    pub kind: FigureKind,
    /// Its values.
    #[serde(flatten)]
    pub spread: Spread,
    /// Change from the first to the last sample by the fitted line, as a share of the centre;
    /// absent unless it is more than chance explains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
}

/// Centre and spread of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many.
    pub n: usize,
    /// Median.
    pub median: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation; absent below two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    /// 95th percentile; absent where the values are too few to have one (below 20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<f64>,
    /// 99th percentile; absent below 100 values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// Lower end of the 95 % interval of the centre; absent where the values are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the 95 % interval of the centre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A figure of one key over the same figure of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Above the line.
    pub of: Key,
    /// Below the line.
    pub to: Key,
    /// What they are.
    pub kind: FigureKind,
    /// The ratio.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent where the values are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Values above the line.
    pub n_of: usize,
    /// Values below the line.
    pub n_to: usize,
}
