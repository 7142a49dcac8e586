//! Bootstrap intervals (Efron 1979): what the figure would be, had other samples been drawn.

use crate::order::{median, percentile};

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A small generator of pseudo-random numbers (splitmix64, Steele, Lea and Flood 2014), seeded by
/// the caller so that an interval is the same each time it is computed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which must not be 0. The bias is below n / 2^64.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }
}

/// The 95 % percentile-bootstrap interval of the median; `None` with fewer than three samples,
/// of which no interval can be had.
pub fn median_interval(samples: &[f64], random: &mut Random) -> Option<Interval> {
    const ROUNDS: usize = 2000;
    if samples.len() < 3 {
        return None;
    }
    let mut medians = Vec::with_capacity(ROUNDS);
    let mut drawn = vec![0.0; samples.len()];
    for _ in 0..ROUNDS {
        drawn.fill_with(|| samples[random.below(samples.len())]);
        medians.extend(median(&drawn));
    }
    Some(Interval {
        low: percentile(&medians, 2.5)?,
        high: percentile(&medians, 97.5)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_covers_the_truth_about_as_often_as_it_says() {
        // Uniform samples with true median 0.5.
        let mut random = Random::new(1);
        let mut covered = 0;
        for _ in 0..200 {
            let samples: Vec<f64> = (0..30)
                .map(|_| random.next_u64() as f64 / u64::MAX as f64)
                .collect();
            let interval = median_interval(&samples, &mut random).unwrap();
            covered += usize::from(interval.low <= 0.5 && 0.5 <= interval.high);
        }
        assert!((180..=200).contains(&covered), "{covered} of 200");
    }

    #[test]
    fn two_samples_have_no_interval() {
        assert_eq!(median_interval(&[1.0, 2.0], &mut Random::new(1)), None);
    }
}
