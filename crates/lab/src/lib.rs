//! The host side of the lab: kernel image, boot, jobs, cache, parallel guests.
//!
//! [`Lab::open`] is the only entry. It runs a [`job::Job`]: a cell, a plan
//! ([`model::job::Measure`]) or programs ([`exec::Programs`]). Each boots the kernel on one
//! processor, with a folder in memory as its root; many run side by side; results are cached by
//! content. [`Engine::Native`] runs them on the host's kernel instead. [`rows`] converts the result
//! of a cell to flat rows. Where one machine is not enough, [`segment`] runs a part of the cells of
//! a spec, and [`gather`] combines the parts; [`batch`] does both as array jobs of a cluster.

pub mod batch;
mod cache;
pub mod cell;
mod check;
mod error;
pub mod exec;
pub mod facts;
pub mod failures;
pub mod gather;
pub mod guest;
mod images;
pub mod job;
pub mod keep;
pub mod kubernetes;
mod lists;
mod mappings;
pub mod measure;
mod native;
mod open;
mod pool;
mod progress;
mod prove;
pub mod rows;
mod sandbox;
pub mod segment;

pub use cache::{CacheNote, Damage, action};
pub use error::{CacheSettingError, GuestEnd, LabError, Lacking, Task};
pub use lists::Lists;
pub use open::{Config, Engine, Lab};
pub use pool::Done;
pub use progress::{Pace, Progress};
