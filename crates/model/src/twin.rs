//! The Twin: a lab path that behaves like a measured one, and its accuracy.
//!
//! A Twin holds several paths, its members, which the Run cannot distinguish, and their predictions
//! of figures that were left out of the fit. It names no host and no address.

mod course;
mod figure;

use serde::{Deserialize, Serialize};

use crate::{
    net::{Direction, IpVersion, Layer},
    path::Path,
    remedy::Remedy,
    run::{Key, Range},
    text::Text,
};

pub use course::{COURSE_POINTS, Course, TwinSeries};
pub use figure::{TwinFigure, UnknownTwinFigure};

/// Version of [`Twin`].
pub const TWIN_SCHEMA: u32 = 1;

/// A model of the path of a Run, with its test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Twin {
    /// [`TWIN_SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of the program that fitted.
    pub program: String,
    /// Name of the Run that was fitted.
    pub run: String,
    /// True if the Run was measured on a lab path: what hosts do beside sending is not in it.
    #[serde(default)]
    pub lab: bool,
    /// Layer whose figures were fitted: the path below the tunnel, if it was measured.
    pub layer: Layer,
    /// Address family whose figures were fitted.
    pub family: IpVersion,
    /// Permitted use of the twin.
    pub verdict: TwinVerdict,
    /// The verdict in one sentence, with the figure that decides.
    #[serde(alias = "says")]
    pub text: Text,
    /// The measurement that would improve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<Text>,
    /// The path that fits best; [`crate::path::Path::cell`] makes it in the lab.
    pub path: Path,
    /// All paths that the Run cannot distinguish, the best first; empty = none fits, or none was
    /// tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Member>,
    /// Fitted figures, with those of the best path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fitted: Vec<Fitted>,
    /// Figures that were left out by rotation, and their predictions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_out: Vec<HeldOut>,
    /// The errors of those predictions together; absent if nothing could be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
    /// One TCP step over time, in the Run and on the best path; absent if either has no series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<TwinSeries>,
    /// Parameters on which the members disagree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Undecided>,
    /// Data missing from the Run, their substitutes, and what therefore cannot be predicted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text>,
    /// Remedies proposed by the findings of the Run, to be tried on the members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// Cost of the fit.
    pub effort: Effort,
}

/// Permitted use of a Twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TwinVerdict {
    /// Figures that were left out are predicted well enough for numbers.
    FitForAdvising,
    /// They are predicted well enough to order two remedies, not by how much.
    OrderOnly,
    /// No lab path has the figures of the Run, or the figures left out are predicted wrongly.
    DoesNotFit,
    /// Nothing was left out, or nothing was run in the lab: the path follows from the Run directly,
    /// and its predictions are untested.
    Untested,
}

/// One of the paths that the Run cannot distinguish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The path.
    pub path: Path,
    /// Its share of the likelihood of all members, 0 to 1.
    pub weight: f64,
    /// Its second largest distance from a figure of the Run, in standard deviations.
    pub implausibility: f64,
    /// Names of the results in the lab that it represents: BLAKE3, the first 16 digits.
    pub runs: Vec<String>,
}

/// A figure that was fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// The step that was run.
    pub key: Key,
    /// The figure.
    pub figure: TwinFigure,
    /// In the Run: the median.
    pub measured: f64,
    /// Repeats in the Run.
    pub n: usize,
    /// In the lab, on the best path: the median.
    pub twin: f64,
    /// Spread of both; of the twin over all seeds of all members, or of the best path if there is
    /// no member.
    #[serde(flatten)]
    pub spread: TwinSpread,
    /// The distance in standard deviations of both and of the model.
    pub implausibility: f64,
}

/// Spread of a figure in the Run and in the lab, as far as there are values to show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TwinSpread {
    /// In the Run: the 95 % interval of the median, from five repeats on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_interval: Option<[f64; 2]>,
    /// In the Run: the range of two to four repeats, too few for an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_range: Option<Range>,
    /// In the lab: the range over seeds and paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin_range: Option<Range>,
}

/// Data left out of a fit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// All loads of a congestion control.
    Cc(String),
    /// All loads of this many flows.
    Flows(u32),
    /// Loads with as much load in the other direction: never fitted.
    Bidirectional,
    /// The tunnel, where the path below it was fitted: never fitted.
    Tunnel,
}

/// A figure that was left out of a fit, and predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Other data left out with it.
    pub left_out: LeftOut,
    /// The step that was run.
    pub key: Key,
    /// The figure.
    pub figure: TwinFigure,
    /// In the Run: the median.
    pub measured: f64,
    /// Predicted.
    pub predicted: f64,
    /// Spread of both; of the prediction over the seeds of the path that makes it.
    #[serde(flatten)]
    pub spread: TwinSpread,
    /// Standard deviation of the error that repeats and seeds explain, on the scale of the figure:
    /// a logarithm of goodputs and shares, µs of delays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// The error beyond the variation of repeats and seeds, over the tolerance of this figure: 1
    /// and less is good enough for numbers.
    pub excess: f64,
}

/// The errors of the predictions of the figures left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Goodputs that were predicted.
    pub goodput_n: usize,
    /// Median of the absolute errors of goodput, as shares: |ln(predicted/measured)|.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput_p50: Option<f64>,
    /// Their 90th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput_p90: Option<f64>,
    /// The same of the part that repeats and seeds do not explain: the twin's own error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput_beyond_p90: Option<f64>,
    /// Added delays that were predicted.
    pub delay_n: usize,
    /// Median of the absolute errors of the added delay, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_p50_us: Option<f64>,
    /// Their 90th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_p90_us: Option<f64>,
    /// The same of the part that repeats and seeds do not explain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_beyond_p90_us: Option<f64>,
}

/// A parameter on which the members disagree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Undecided {
    /// Direction it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The undecided parameter.
    pub what: Text,
    /// The measurement that would settle it.
    pub settle: Text,
}

/// Cost of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Paths that were tried.
    pub paths: usize,
    /// Runs in the lab, those from the cache included.
    pub runs: usize,
    /// Runs in the lab that failed.
    pub failed: usize,
    /// Processor time by the model of the cost, s: the same on any machine.
    pub processor_s: f64,
}

/// Error reading a Twin document.
#[derive(Debug, thiserror::Error)]
pub enum TwinDocumentError {
    /// Not a Twin.
    #[error("not a twin: {0}")]
    Format(#[from] serde_json::Error),
    /// Made by a later version.
    #[error("the twin has schema {0}, and this program knows up to {TWIN_SCHEMA}: update pathtwin")]
    Newer(u32),
    /// A member that is not a path.
    #[error("a path of the twin: {0}")]
    Path(#[from] crate::path::PathError),
}

impl Twin {
    /// Reads a Twin from JSON.
    ///
    /// # Errors
    /// The text is not a Twin, was written by a later version, or one of its paths is invalid.
    pub fn parse(text: &[u8]) -> Result<Self, TwinDocumentError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_slice(text)?;
        if version.schema > TWIN_SCHEMA {
            return Err(TwinDocumentError::Newer(version.schema));
        }
        let twin: Self = serde_json::from_slice(text)?;
        let paths = std::iter::once(&twin.path).chain(twin.members.iter().map(|m| &m.path));
        for path in paths {
            path.cell(&crate::path::Trial::default())?;
        }
        Ok(twin)
    }
}
