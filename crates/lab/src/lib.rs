//! The outside of the guest: kernel image, boot, cells, cache, parallel jobs, checks.
//!
//! A [`sandbox::Sandbox`] is a folder in memory with the guest's root. A [`cell`] run boots the
//! kernel on one processor with that root, waits, and reads what came out. [`pool`] does so for
//! many cells side by side; [`cache`] remembers results by content; [`rows`] makes the flat form.

pub mod cache;
pub mod cell;
mod error;
pub mod exec;
pub mod facts;
pub mod guest;
pub mod keep;
pub mod measure;
pub mod native;
pub mod pool;
pub mod rows;
pub mod sandbox;

pub use error::LabError;
