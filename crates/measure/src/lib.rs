//! Measurement of a Plan between two ends: schedule, interleaving, repeats, stop rule, validity,
//! host facts.
//!
//! Nothing here depends on whether the two ends are real hosts or namespaces of a lab guest.

pub mod far;
pub mod group;
pub mod key;
pub mod plans;
pub mod reach;
pub mod run;
pub mod serve;
