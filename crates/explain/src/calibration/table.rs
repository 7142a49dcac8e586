//! Tables of counts.

use model::cause::CauseCode;

/// Correct findings and all findings, for each strength from weakest to strongest.
pub type Counts = [[u32; 2]; 3];

/// A table of counts by cause.
pub(super) type Table = [(CauseCode, Counts)];
