//! The daemon: measures paths by a schedule within a budget, finds lasting changes, and reports
//! each once.
//!
//! [`Watcher`] decides and computes, and gets time and randomness as arguments; [`daemon`] is the
//! loop around it, which reads clocks, measures, saves and sends messages.

pub mod budget;
mod calendar;
pub mod config;
pub mod daemon;
pub mod figures;
#[cfg(feature = "history")]
pub mod history;
pub mod http;
mod lasting;
mod line;
pub mod message;
pub mod metrics;
pub mod moment;
mod notify;
#[cfg(all(feature = "page", feature = "history"))]
pub mod page;
mod path_state;
mod plan;
mod post;
mod real;
mod runs;
pub mod schedule;
pub mod state;
pub mod undo;
mod useless;
mod watcher;

pub use line::Line;
pub use plan::TooSmall;
pub use post::Url;
pub use watcher::{
    Begin, Candidate, FigureStatus, Job, KeptChange, Measured, Next, PathStatus, Postponed,
    Watcher, Work,
};
