//! Rules that derive Findings from a Run: causes that limit a path, with confidence and evidence;
//! causes ruled out, with reasons; and measurements that would resolve doubts. No I/O.
//!
//! Each cause is a value in the [`registry`], in a separate module. It reads the Run through an
//! [`analysis::view::View`] and returns, for each direction, each host or the whole path, whether
//! it is confirmed, ruled out or undecided. [`judge`] evaluates all causes and orders the findings:
//! causes that can imitate others come first.
//!
//! A Run contains only what a measuring host can see. The truth of a lab path is in the lab's
//! records, which this crate cannot access.

mod bound;
mod brief;
pub mod calibration;
pub mod cause;
mod causes;
mod judge;
mod next;
pub mod pages;
pub mod published;
pub mod scope;
mod summary;
pub mod verdict;

pub use causes::{registry, titles};
pub use judge::{judge, judge_with_strength};
pub use next::next;
