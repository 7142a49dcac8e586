//! Order statistics, intervals valid for few samples, rank tests, drift and change points.
//! Independent of networks.
//!
//! The choice of each method, and the coverage of its intervals, is in `docs/statistics.md`.

mod center;
mod change;
mod correction;
mod difference;
pub mod distribution;
mod drift;
mod interval;
mod order;
mod permutation;
mod pooled;
mod proportion;
mod random;
mod ranks;
mod ratio;
mod stop;

pub use center::{
    MEDIAN_OF_THREE, mean_interval, median_interval, median_interval_at, prediction_half_width,
    relative_half_width,
};
pub use change::{Change, changes};
pub use correction::{benjamini_hochberg, holm};
pub use difference::{Difference, difference, difference_p};
pub use drift::{Drift, drift};
pub use interval::Interval;
pub use order::{mean, median, median_deviation, percentile, slope, standard_deviation};
pub use permutation::{ln_ratio_of_medians, permutation_p};
pub use pooled::{Pooled, pooled};
pub use proportion::{binomial_tail, clopper_pearson, clustered, percentile_interval, wilson};
pub use random::Random;
pub use ranks::{MannWhitney, mann_whitney, shift, signed_rank_interval};
pub use ratio::{Ratio, paired_ratio, ratio, ratio_at, ratio_p};
pub use stop::{Stop, StopRule};
