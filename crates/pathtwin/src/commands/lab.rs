//! `pathtwin lab`.

pub(crate) mod batch;
pub(crate) mod exec;
mod invalid;
pub(crate) mod kernel;
pub(crate) mod kubernetes;
pub mod run;
pub(crate) mod segment;
