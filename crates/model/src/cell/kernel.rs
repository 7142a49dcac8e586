//! The kernel of a cell.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::is_name;

/// A kernel image of the lab: a series (`7.2`), a version (`7.2.13`), or the beginning of its hash,
/// as `pathtwin lab kernel list` shows them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KernelName(String);

impl KernelName {
    /// The name of the default image: the one that the environment names, else the current one.
    pub const CURRENT: &str = "current";

    /// Reads a name; `None` if it is not valid. File names are rejected: a spec with one would be
    /// meaningful on one host only.
    pub fn new(text: &str) -> Option<Self> {
        is_name(text).then(|| Self(text.to_owned()))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
