//! Time for a search, and for the trials after it.

use std::time::Duration;

use model::twin::Twin;

use crate::cost;

/// Rates, bit/s, and the usual time of a search and the trials after it, s: up to the first, from
/// the second on, and linear between. The clock may take a fifth more: the cost model is not exact,
/// and two processors are not busy all the time (docs/benchmarks.md). So the answer is there within
/// 3 and 15 min.
const USUAL: [(f64, f64); 2] = [(1e8, 150.0), (1e9, 750.0)];

/// Budget of a search, or of the trials after it: real time on a machine with two processors, by
/// the cost model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Budget {
    /// By the rate of the path: a search and the trials after it take 2.5 min up to 100 Mbit/s, and
    /// 12.5 min from 1 Gbit/s on. A search takes at most half of it, the trials the rest.
    #[default]
    Usual,
    /// The same, but at least this time for each of both.
    AtLeast(Duration),
    /// This time.
    Of(Duration),
}

impl Budget {
    /// Half of a time for a search and the trials after it.
    #[must_use]
    pub fn half(self) -> Self {
        match self {
            Self::Usual | Self::AtLeast(_) => self,
            Self::Of(time) => Self::Of(time / 2),
        }
    }

    /// What the search of a Twin left of a time for both.
    #[must_use]
    pub fn after(self, twin: &Twin) -> Self {
        match self {
            Self::Usual | Self::AtLeast(_) => self,
            Self::Of(time) => Self::Of(time.saturating_sub(searched(twin))),
        }
    }

    /// Time of a search on a path whose faster direction has this rate, bit/s.
    pub(crate) fn of_search(self, rate_bps: f64) -> Duration {
        match self {
            Self::Of(time) => time,
            Self::Usual => usual(rate_bps) / 2,
            Self::AtLeast(time) => time.max(Self::Usual.of_search(rate_bps)),
        }
    }

    /// Time of the trials on a twin of such a path.
    pub(crate) fn of_trials(self, twin: &Twin, rate_bps: f64) -> Duration {
        match self {
            Self::Of(time) => time,
            Self::Usual => {
                let both = usual(rate_bps);
                both.saturating_sub(searched(twin)).max(both / 2)
            }
            Self::AtLeast(time) => time.max(Self::Usual.of_trials(twin, rate_bps)),
        }
    }
}

/// Time of the search that found a Twin.
pub fn searched(twin: &Twin) -> Duration {
    Duration::from_secs_f64(cost::elapsed_s(twin.effort.processor_s.max(0.0)))
}

fn usual(rate_bps: f64) -> Duration {
    let [(slow, least_s), (fast, most_s)] = USUAL;
    let share = ((rate_bps - slow) / (fast - slow)).clamp(0.0, 1.0);
    Duration::from_secs((least_s + share * (most_s - least_s)).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faster_path_gets_more_time_but_a_given_time_is_kept() {
        let time = |bps| Budget::Usual.of_search(bps).as_secs();
        assert_eq!(
            [1e6, 1e8, 5.5e8, 1e9, 1e10].map(time),
            [75, 75, 225, 375, 375]
        );
        let given = Duration::from_secs(15);
        assert_eq!(Budget::Of(given).of_search(1e9), given);
        let least = Budget::AtLeast(Duration::from_secs(120));
        let time = |bps| least.of_search(bps).as_secs();
        assert_eq!([1e6, 1e8, 2.82e8, 1e9].map(time), [120, 120, 135, 375]);
    }
}
