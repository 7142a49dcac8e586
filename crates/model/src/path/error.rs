//! Why a Path cannot be read, or is none that the lab can make.

use std::fmt;

/// Why a Path cannot be read or made in the lab.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Not a Path at all.
    #[error("not a path: {0}")]
    Format(#[from] serde_json::Error),
    /// Made by a later version.
    #[error(
        "the path has schema {0}, and this program knows up to {known}: update pathtwin",
        known = super::PATH_SCHEMA
    )]
    Newer(u32),
    /// Parameters that cannot be so.
    #[error("{}", listing(.0))]
    Refused(Vec<Refused>),
}

impl PathError {
    /// An error, if anything was refused.
    pub(super) fn of(refused: Vec<Refused>) -> Result<(), Self> {
        match refused.is_empty() {
            true => Ok(()),
            false => Err(Self::Refused(refused)),
        }
    }
}

/// A parameter that cannot be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its dotted name, as in `underlay.down.jitter_ns`.
    pub parameter: String,
    /// Why not, and what to do.
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
