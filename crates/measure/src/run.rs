//! The near end: carries a plan out against a far end.

mod bench;
mod conclude;
pub mod iperf3;
mod key;
mod layers;
mod relay;
mod schedule;
mod session;
mod steps;
mod text;
mod validity;

pub use bench::{Event, Live};
pub use layers::Target;
pub use schedule::{Estimate, estimate, usual_estimate};
pub use session::{Start, measure};
pub use text::minutes;
