//! Processes of a Change.

use serde::{Deserialize, Serialize};

/// A process by its number and start time, since numbers are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number.
    pub pid: u32,
    /// Start time, ticks since boot.
    pub start_ticks: u64,
}
