//! Optional stages of one direction of a path.
//!
//! A line without them is written to a cell's document as it was before they existed, so that its
//! results in the cache stay valid.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Rate, Share, nanos, opt_nanos};

/// A token bucket without a queue in front of the bottleneck: drops traffic above its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policer {
    /// Rate of the tokens, Ethernet headers included.
    #[serde(rename = "rate_bps")]
    pub rate: Rate,
    /// Size of the bucket, which starts full.
    #[serde(rename = "burst_bytes")]
    pub burst: Bytes,
}

/// A higher rate of the bottleneck until a bucket is empty.
///
/// The bucket starts full and fills at the bottleneck's rate `r`. At the peak rate `p` it lasts for
/// `8 burst / (p - r)` seconds, in which `burst p / (p - r)` bytes pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peak {
    /// The peak rate, Ethernet headers included.
    #[serde(rename = "rate_bps")]
    pub rate: Rate,
    /// Size of the bucket: bytes that may pass beyond the bottleneck's rate.
    #[serde(rename = "burst_bytes")]
    pub burst: Bytes,
}

/// Changes of the bottleneck's rate, counted from the start of the load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSteps {
    /// The changes, in the order of their times; each rate holds until the next one.
    pub steps: Vec<RateStep>,
    /// After this span they start again; absent = the last rate stays.
    #[serde(rename = "repeat_ns", with = "opt_nanos")]
    pub repeat: Option<Duration>,
}

impl RateSteps {
    /// The average rate of one period, or of the time until the last change.
    pub fn average(&self, before: Rate) -> Rate {
        let end = match (self.repeat, self.steps.last()) {
            (Some(repeat), _) => repeat,
            (None, Some(last)) if !last.at.is_zero() => last.at,
            (None, last) => return last.map_or(before, |step| step.rate),
        };
        // A second period begins with the last rate of the first.
        let first = match (self.repeat, self.steps.last()) {
            (Some(_), Some(last)) => last.rate,
            _ => before,
        };
        let mut bits = 0.0;
        let (mut since, mut rate) = (Duration::ZERO, first);
        for step in &self.steps {
            bits += rate.bps() as f64 * (step.at - since).as_secs_f64();
            (since, rate) = (step.at, step.rate);
        }
        bits += rate.bps() as f64 * end.saturating_sub(since).as_secs_f64();
        Rate::from_bps((bits / end.as_secs_f64()).round() as u64)
    }
}

/// A change of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Time after the start of the load.
    #[serde(rename = "at_ns", with = "nanos")]
    pub at: Duration,
    /// The rate from then on.
    #[serde(rename = "rate_bps")]
    pub rate: Rate,
}

/// Distribution of an added delay by its quantiles: 0 at 0 %, linear between them, and the last one
/// for the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quantiles(pub Vec<Quantile>);

impl Quantiles {
    /// The added delay that this share of the packets does not exceed.
    pub fn at(&self, share: f64) -> Duration {
        let (mut below, mut delay) = (0.0, Duration::ZERO);
        for quantile in &self.0 {
            let above = quantile.share.get();
            if share < above {
                let part = (share - below) / (above - below);
                return delay + (quantile.delay - delay).mul_f64(part.clamp(0.0, 1.0));
            }
            (below, delay) = (above, quantile.delay);
        }
        delay
    }

    /// The largest added delay.
    pub fn most(&self) -> Duration {
        self.0.last().map_or(Duration::ZERO, |last| last.delay)
    }
}

/// One quantile of an added delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantile {
    /// Share of packets with at most this delay.
    pub share: Share,
    /// The added delay.
    #[serde(rename = "delay_ns", with = "nanos")]
    pub delay: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn quantiles_are_linear_between_those_given() {
        let quantile = |share, delay| Quantile {
            share: Share::new(share).unwrap_or(Share::ONE),
            delay: ms(delay),
        };
        let all = Quantiles(vec![quantile(0.5, 2), quantile(0.9, 10)]);
        assert_eq!(
            [0.0, 0.25, 0.5, 0.7, 0.9, 1.0].map(|share| all.at(share).as_micros()),
            [0, 1000, 2000, 6000, 10_000, 10_000]
        );
    }

    #[test]
    fn the_average_rate_weighs_each_rate_by_its_time() {
        let step = |at, mbit: u64| RateStep {
            at: ms(at),
            rate: Rate::from_bps(mbit * 1_000_000),
        };
        let mut steps = RateSteps {
            steps: vec![step(0, 10), step(1000, 40)],
            repeat: Some(ms(4000)),
        };
        let before = Rate::from_bps(100_000_000);
        // 1 s at 10 and 3 s at 40.
        assert_eq!(steps.average(before).bps(), 32_500_000);
        steps.repeat = None;
        assert_eq!(steps.average(before).bps(), 10_000_000);
    }
}
