//! Order statistics, means and bootstrap intervals. Knows nothing of networks.

mod bootstrap;
mod order;

pub use bootstrap::{Interval, Random, median_interval};
pub use order::{mean, median, percentile, slope, standard_deviation};
