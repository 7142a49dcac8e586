//! A Run to Findings: what limits a path, how sure that is, on what evidence, what was ruled out
//! and how, and what would settle a doubt. No I/O.
//!
//! Each cause is a value in the [`registry`], one file a cause. A cause reads the Run through a
//! [`analysis::view::View`], and answers for each direction, each host or the whole path that it
//! holds, that it is ruled out, or that this Run cannot tell. [`judge`] asks them all and puts what
//! holds in order: what can fake another comes first.
//!
//! A Run holds what a measuring host can see. The truth of a lab path is in the lab's records,
//! which this crate does not know.

pub mod advice;
pub mod calibration;
pub mod cause;
mod causes;
pub mod compose;
pub mod corpus;
mod judge;
pub mod pages;
pub mod published;
mod summary;
pub mod verdict;

pub use causes::registry;
pub use judge::judge;
