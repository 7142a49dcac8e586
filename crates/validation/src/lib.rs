//! Validation of pathtwin: checks of the lab, of `measure` and `compare` on paths with a known
//! truth, and of `explain` on scenarios with known causes.

pub mod accuracy;
pub mod drawn;
pub mod fixes;
pub mod runs;
pub mod validate;
pub mod watching;
