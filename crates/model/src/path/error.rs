//! Errors of reading a Path and of converting it to a lab path.

use std::fmt;

use crate::cell::Rule;

/// Error of reading a Path or of converting it to a lab path.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Not a Path document.
    #[error("not a path: {0}")]
    Format(#[from] serde_json::Error),
    /// Written by a later version.
    #[error("the path has schema {schema}, and this program knows up to {known}: update pathtwin")]
    Newer {
        /// Its schema.
        schema: u32,
        /// The newest schema that this program reads.
        known: u32,
    },
    /// Invalid parameters.
    #[error("{}", listing(.0))]
    Refused(Vec<Refused>),
}

impl PathError {
    /// An error if there are invalid parameters.
    ///
    /// # Errors
    /// The list is not empty.
    pub(super) fn of(refused: Vec<Refused>) -> Result<(), Self> {
        match refused.is_empty() {
            true => Ok(()),
            false => Err(Self::Refused(refused)),
        }
    }
}

/// An invalid parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Its dotted name, such as `underlay.down.jitter_ns`.
    pub parameter: String,
    /// The reason.
    pub reason: RefusalReason,
}

/// Reason why a parameter is invalid; the message follows its name and a colon.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RefusalReason {
    /// Its value is outside of its interval.
    #[error("the interval does not contain the value")]
    OutsideInterval,
    /// A stand-in for a parameter that the Path does not have.
    #[error("{0} is not known here")]
    UnknownParameter(String),
    /// A property of the line inside a tunnel that the lab does not have.
    #[error("of the stage of tunnel packets alone, the lab has rate, buffer and loss")]
    InsideTunnel,
    /// It is missing, and competing traffic of this kind needs it.
    #[error("this kind needs it, and it has no default")]
    Required,
    /// A rule of cells.
    #[error(transparent)]
    Rule(#[from] Rule),
}

impl Refused {
    pub(super) fn new(parameter: impl Into<String>, reason: impl Into<RefusalReason>) -> Self {
        Self {
            parameter: parameter.into(),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.parameter, self.reason)
    }
}

fn listing(refused: &[Refused]) -> String {
    let lines: Vec<String> = refused.iter().map(Refused::to_string).collect();
    lines.join("\n")
}
