//! Processes of a Change.

use serde::{Deserialize, Serialize};

/// A process that a later one with the same number is not mistaken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number.
    pub pid: u32,
    /// Start time, ticks since boot.
    pub start_ticks: u64,
}
