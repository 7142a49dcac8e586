//! Errors in plans, and the bounds of their values.

use std::{io, ops::RangeInclusive, path::PathBuf};

use model::{
    text,
    text::{Text, Value},
};

/// Error parsing a plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.text())]
pub enum PlanError {
    /// Not TOML, or not of a plan's shape; names line and reason.
    Format(#[from] toml::de::Error),
    /// The plan cannot be written back, which shows unknown keys.
    Write(#[from] toml::ser::Error),
    /// A key that no plan has.
    Unknown(String),
    /// A plan of a newer program.
    Newer {
        /// Its schema.
        found: u32,
        /// The newest schema that is known.
        known: u32,
    },
    /// Nothing to measure.
    NoStep,
    /// Repeats that cannot be.
    Repeats {
        /// At least.
        min: u32,
        /// At most.
        max: u32,
    },
    /// An interval of probes that cannot be.
    ProbeInterval(f64),
    /// A step that cannot be.
    Step {
        /// Its number, from 0.
        number: usize,
        /// Its fault.
        #[source]
        error: StepError,
    },
}

/// Invalid content of a step.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.text())]
pub enum StepError {
    /// Its length.
    Duration(f64),
    /// Its number of connections.
    Flows(u32),
    /// A warm-up that leaves no time.
    Warmup {
        /// The warm-up, s.
        warmup_s: f64,
        /// The step, s.
        duration_s: f64,
    },
    /// A rate of 0.
    NoRate,
    /// Rates in the wrong order.
    Rates {
        /// The first rate, bit/s.
        from_bps: u64,
        /// The highest, bit/s.
        to_bps: u64,
    },
    /// Its length of a response.
    Bytes(u64),
}

/// Error reading a plan file.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum PlanFileError {
    /// It cannot be read.
    Read {
        /// The file.
        file: PathBuf,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// Its text is not a plan.
    Plan {
        /// The file.
        file: PathBuf,
        /// The error.
        #[source]
        error: PlanError,
    },
}

/// Maximum repeats of a step.
pub(super) const MAX_REPEATS: u32 = 1000;
/// Interval of probes, ms.
pub(super) const PROBE_MS: RangeInclusive<f64> = 0.1..=10_000.0;
/// Length of a step, s.
pub(super) const DURATION_S: RangeInclusive<f64> = 0.1..=3600.0;
/// Connections of a load in each direction.
pub(super) const FLOWS: RangeInclusive<u32> = 1..=128;
/// Length of a response, bytes.
pub(super) const BYTES: RangeInclusive<u64> = 1..=1 << 30;

impl PlanError {
    /// The error with its values, for reports in any language. Messages of the parser are quoted.
    pub fn text(&self) -> Text {
        match self {
            Self::Format(error) => Text::name(error.to_string().trim_end()),
            Self::Write(error) => text!(
                "check the keys of the plan: {error}",
                error = error.to_string()
            ),
            Self::Unknown(key) => text!(
                "unknown key {key}; docs/reference/plan.md lists all keys",
                key = key
            ),
            Self::Newer { found, known } => text!(
                "the plan has schema {found}, and this program knows up to {known}: update \
                 pathtwin",
                found = *found,
                known = *known
            ),
            Self::NoStep => text!("the plan has no step: add a [[step]]"),
            Self::Repeats { min, max } => text!(
                "repeats.min is {min} and repeats.max {max}: min must not be above max, nor max \
                 above {most}",
                min = *min,
                max = *max,
                most = MAX_REPEATS
            ),
            Self::ProbeInterval(ms) => range("probe_ms", ms, &PROBE_MS),
            Self::Step { number, error } => text!(
                "step[{number}]: {error}",
                number = *number,
                error = error.text()
            ),
        }
    }
}

impl StepError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Duration(seconds) => range("duration_s", seconds, &DURATION_S),
            Self::Flows(flows) => range("flows", flows, &FLOWS),
            Self::Warmup {
                warmup_s,
                duration_s,
            } => text!(
                "warmup_s is {warmup}: it must be at least 0 and below duration_s, which is \
                 {duration}",
                warmup = warmup_s.to_string(),
                duration = duration_s.to_string()
            ),
            Self::NoRate => text!("the rate is 0: give rate_bps or from_bps in bit/s"),
            Self::Rates { from_bps, to_bps } => text!(
                "from_bps is {from} and to_bps {to}: from_bps must not be above to_bps",
                from = from_bps.to_string(),
                to = to_bps.to_string()
            ),
            Self::Bytes(bytes) => range("bytes", bytes, &BYTES),
        }
    }
}

/// A number of a plan outside its bounds, as written there.
fn range<T: ToString>(key: &str, value: &T, bounds: &RangeInclusive<T>) -> Text {
    let name = |number: &T| Value::Name(number.to_string());
    text!(
        "{key} is {value}: it must be in {least} to {most}",
        key = key,
        value = name(value),
        least = name(bounds.start()),
        most = name(bounds.end())
    )
}

impl PlanFileError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Read { file, error } => text!("read {file}: {error}", file = file, error = error),
            Self::Plan { file, error } => {
                text!("{file}: {error}", file = file, error = error.text())
            }
        }
    }
}
