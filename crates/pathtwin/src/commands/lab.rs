//! `pathtwin lab`.

pub(crate) mod exec;
pub(crate) mod kernel;
pub mod run;
