//! Errors of reading a Path and of making a lab path of it.

use std::fmt;

/// Error of reading a Path or of making a lab path of it.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Not a Path document.
    #[error("not a path: {0}")]
    Format(#[from] serde_json::Error),
    /// Written by a later version.
    #[error(
        "the path has schema {0}, and this program knows up to {known}: update pathtwin",
        known = super::PATH_SCHEMA
    )]
    Newer(u32),
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its dotted name, such as `underlay.down.jitter_ns`.
    pub parameter: String,
    /// The reason, and what to do.
    pub reason: String,
}

impl Refused {
    pub(super) fn new(parameter: &str, reason: &str) -> Self {
        Self {
            parameter: parameter.to_owned(),
            reason: reason.to_owned(),
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
