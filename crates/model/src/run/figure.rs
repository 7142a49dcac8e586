//! Figures over several samples.

use serde::{Deserialize, Serialize};

use super::{FigureKind, Key};

/// A figure over the valid samples of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The measurement.
    pub key: Key,
    /// Its kind.
    pub kind: FigureKind,
    /// Its values.
    #[serde(flatten)]
    pub spread: Spread,
    /// Drift from the first to the last sample by a fitted line, as a share of the centre; absent
    /// unless significant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
}

/// Centre and spread of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of values.
    pub n: usize,
    /// Median.
    pub median: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation; absent below two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    /// 95th percentile; absent below 20 values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<f64>,
    /// 99th percentile; absent below 100 values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// Lower end of the 95 % interval of the centre; absent if there are too few values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the 95 % interval of the centre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Range of the values, where there are two to four: too few for an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// The 95 % interval of the centre of two to four values, by the spread of like steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooled: Option<Pooled>,
}

/// An interval by a spread that like steps of the run have together: of one kind of figure, layer
/// and direction, with other congestion controls and numbers of flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pooled {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Degrees of freedom of the spread.
    pub freedom: usize,
}

/// The smallest and the largest of a few values. That is no interval of a stated level: of three
/// values it contains the median of their distribution in three cases of four.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Range {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl From<[f64; 2]> for Range {
    fn from([low, high]: [f64; 2]) -> Self {
        Self { low, high }
    }
}

impl From<Range> for [f64; 2] {
    fn from(range: Range) -> Self {
        [range.low, range.high]
    }
}

/// A figure of one key over the same figure of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Numerator.
    pub of: Key,
    /// Denominator.
    pub to: Key,
    /// Kind of both figures.
    pub kind: FigureKind,
    /// The ratio.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent if there are too few values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Range of the ratios of like samples, where there are two to four: too few for an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// The 95 % interval of the ratio of two to four blocks, by the spread of like ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooled: Option<Pooled>,
    /// Number of values of the numerator.
    pub n_of: usize,
    /// Number of values of the denominator.
    pub n_to: usize,
}
