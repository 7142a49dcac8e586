//! `pathtwin lab`.

pub(crate) mod batch;
pub(crate) mod exec;
pub(crate) mod kernel;
pub(crate) mod kubernetes;
pub mod run;
pub(crate) mod segment;
