//! `pathtwin lab`.

pub(crate) mod exec;
mod failures;
pub(crate) mod kernel;
pub mod run;
