//! Texts about the cost and the progress of a run.

use std::fmt::Write as _;

use model::{plan::Budget, units::Bytes};

use super::{bench::Live, estimate::Estimate};

/// Rates for which the data volume of a plan is stated, since the path's rate is not known yet.
const RATES_MBPS: [f64; 2] = [100.0, 1000.0];

impl Estimate {
    /// Samples, time and data of the plan, and its limits.
    pub fn text(&self, budget: &Budget) -> String {
        let data = |mbps: f64| {
            let gigabytes = self.loaded_s.map(|s| s * mbps / 8e3);
            let gigabytes = range(gigabytes.map(|g| format!("{g:.1}")));
            format!("{gigabytes} GB at {mbps:.0} Mbit/s")
        };
        let mut text = format!(
            "{} samples, {}, {}",
            range(self.samples.map(|n| n.to_string())),
            range(self.time_s.map(minutes)),
            RATES_MBPS.map(data).join(", ")
        );
        // Writing to a String cannot fail.
        if let Some(bytes) = budget.bytes {
            let _ = write!(text, "; at most {}", Bytes(bytes));
        }
        if let Some(time) = budget.time_s {
            let _ = write!(text, "; at most {}", minutes(time));
        }
        text
    }
}

/// "MIN to MAX", or one value if both texts are equal.
pub fn range([least, most]: [String; 2]) -> String {
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

impl Live {
    /// Current value of the running step, and the time left of a run of at most `total_s`.
    pub fn text(&self, total_s: f64, budget: &Budget) -> String {
        let mut text = String::new();
        if let Some(rate) = self.rate_bps {
            let _ = write!(text, "{:.1} Mbit/s  ", rate / 1e6);
        }
        if let Some(rtt) = self.rtt_us {
            let _ = write!(text, "rtt {:.1} ms  ", rtt / 1e3);
        }
        if let Some(lost) = self.lost {
            let _ = write!(text, "lost {:.1}%  ", lost * 100.0);
        }
        let left = (total_s - self.run_s).max(0.0);
        let _ = write!(
            text,
            "step {:.0} s left, run at most {} left, {:.2} GB",
            self.step_left_s.max(0.0),
            minutes(left),
            self.bytes as f64 / 1e9
        );
        if let Some(most) = budget.bytes {
            let left = most.saturating_sub(self.bytes);
            let _ = write!(text, " ({:.2} GB left)", left as f64 / 1e9);
        }
        text
    }
}

/// Seconds as minutes and seconds.
pub fn minutes(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    format!("{}:{:02} min", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_arithmetic() {
        let estimate = Estimate {
            time_s: [60.0, 125.0],
            loaded_s: [10.0, 20.0],
            samples: [4, 8],
        };
        let budget = Budget {
            bytes: Some(2_000_000_000),
            time_s: None,
        };
        // 10 s at 100 Mbit/s are 1 Gbit, an eighth of a GB.
        assert_eq!(
            estimate.text(&budget),
            "4 to 8 samples, 1:00 min to 2:05 min, 0.1 to 0.2 GB at 100 Mbit/s, \
             1.2 to 2.5 GB at 1000 Mbit/s; at most 2GB"
        );
    }

    #[test]
    fn a_range_of_equal_values_is_one_value() {
        let estimate = Estimate {
            time_s: [67.0, 67.2],
            loaded_s: [40.0, 40.0],
            samples: [16, 16],
        };
        assert_eq!(
            estimate.text(&Budget::default()),
            "16 samples, 1:07 min, 0.5 GB at 100 Mbit/s, 5.0 GB at 1000 Mbit/s"
        );
    }

    #[test]
    fn unknown_parts_of_a_step_are_left_out() {
        let live = Live {
            rate_bps: Some(5e6),
            step_left_s: 2.0,
            run_s: 30.0,
            bytes: 1_000_000_000,
            ..Live::default()
        };
        assert_eq!(
            live.text(90.0, &Budget::default()),
            "5.0 Mbit/s  step 2 s left, run at most 1:00 min left, 1.00 GB"
        );
    }
}
