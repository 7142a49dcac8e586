//! Estimated cost of a plan.

use std::time::Duration;

/// Estimate for a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Seconds, with the fewest and with the most repeats.
    pub time_s: [f64; 2],
    /// Seconds of full load in it, with the fewest and with the most repeats: times the rate of the
    /// path, this is the data.
    pub loaded_s: [f64; 2],
    /// Samples, with the fewest and with the most repeats.
    pub samples: [usize; 2],
}

impl Estimate {
    /// Time in which a run of the plan ends on typical paths: 1.5 times its estimated maximum.
    pub fn usual_end(&self) -> Duration {
        Duration::from_secs_f64(self.time_s[1] * 1.5)
    }

    /// Time of several runs of the plan one after the other, whole minutes: the most that they
    /// take.
    pub fn most_minutes(&self, runs: u32) -> f64 {
        (self.time_s[1] * f64::from(runs) / 60.0).ceil()
    }

    /// Time after which a run of the plan counts as hung: slow paths take long to agree on each
    /// step and to empty their queues.
    pub fn limit(&self) -> Duration {
        const SLOW: f64 = 6.0;
        const AT_LEAST: f64 = 600.0;
        Duration::from_secs_f64(self.time_s[1] * SLOW + AT_LEAST)
    }
}
