//! Execution of a plan by the near end.

mod bench;
mod budget;
mod conclude;
mod controls;
mod estimate;
mod find;
pub mod iperf3;
mod layers;
mod pace;
mod perform;
mod relay;
mod schedule;
mod session;
mod steps;
mod task;
mod text;
mod third;
mod validity;

pub use bench::{Event, Live};
pub use estimate::Estimate;
pub use find::ThirdError;
pub use layers::Target;
pub use schedule::usual_estimate;
pub use session::{Start, measure};
pub use text::{minutes, range};
pub use third::{ProbeKind, Third};
