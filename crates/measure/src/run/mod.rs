//! The near end: carries a plan out against a far end.

mod key;
mod layers;
mod schedule;
mod session;
mod steps;
mod summary;
mod validity;

pub use layers::Target;
pub use schedule::{Estimate, estimate};
pub use session::{Event, Start, measure};
pub use summary::{figures, ratios};
