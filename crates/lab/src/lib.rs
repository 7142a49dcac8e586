//! The outside of the guest: kernel image, boot, jobs, cache, parallel guests.
//!
//! [`Lab::open`] is the only way in. It runs a [`job::Job`]: a cell, a plan
//! ([`model::job::Measure`]) or programs ([`exec::Programs`]). Each boots the kernel on one
//! processor, with a folder in memory as its root; many run side by side; results are cached by
//! content. [`rows`] makes flat rows of the result of a cell.

mod cache;
pub mod cell;
mod entry;
mod error;
pub mod exec;
pub mod facts;
pub mod failures;
pub mod guest;
pub mod job;
pub mod keep;
mod mappings;
pub mod measure;
pub mod native;
mod open;
mod pool;
mod progress;
pub mod rows;
mod sandbox;

pub use cache::Damaged;
pub use entry::Damage;
pub use error::{GuestEnd, LabError, Lacking, Task};
pub use open::{Config, Lab};
pub use pool::Done;
pub use progress::Progress;
