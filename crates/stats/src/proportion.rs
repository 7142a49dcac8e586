//! Intervals of shares, such as that of lost packets, and of percentiles.

use crate::{
    distribution::{beta_cdf, beta_quantile, normal_quantile, t_quantile},
    interval::{Interval, LEVEL},
};

/// Wilson's 95 % interval (1927) of a chance, from `hits` out of `n` independent trials. It covers
/// 95 % on average over chances, for one chance sometimes a little less. `None` if `n` is 0 or
/// `hits` more than `n`.
pub fn wilson(hits: u64, n: u64) -> Option<Interval> {
    if n == 0 || hits > n {
        return None;
    }
    let (z, n, share) = (
        normal_quantile(0.5 + LEVEL / 2.0),
        n as f64,
        hits as f64 / n as f64,
    );
    let down = 1.0 + z * z / n;
    let center = (share + z * z / (2.0 * n)) / down;
    let half = z / down * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    Some(Interval {
        low: if hits == 0 { 0.0 } else { center - half },
        high: if share == 1.0 { 1.0 } else { center + half },
    })
}

/// The chance of at least `hits` out of `n` independent trials of this chance each: the upper tail
/// of the binomial distribution, which is the regularised incomplete beta function I(hits,
/// n - hits + 1) of the chance (NIST DLMF 8.17.5). `None` if `hits` is more than `n`.
pub fn binomial_tail(hits: u64, n: u64, chance: f64) -> Option<f64> {
    match hits {
        0 => Some(1.0),
        _ if hits > n => None,
        _ => Some(beta_cdf(chance, hits as f64, (n - hits) as f64 + 1.0)),
    }
}

/// The 95 % interval of Clopper and Pearson (1934) of a chance, from `hits` out of `n` independent
/// trials. It covers at least 95 % for every chance. `None` if `n` is 0 or `hits` more than `n`.
pub fn clopper_pearson(hits: u64, n: u64) -> Option<Interval> {
    (n > 0 && hits <= n).then(|| beta_interval(hits as f64, n as f64))
}

/// Clopper and Pearson's interval for counts that need not be whole.
fn beta_interval(hits: f64, n: f64) -> Interval {
    let tail = (1.0 - LEVEL) / 2.0;
    Interval {
        low: if hits <= 0.0 {
            0.0
        } else {
            beta_quantile(tail, hits, n - hits + 1.0)
        },
        high: if hits >= n {
            1.0
        } else {
            beta_quantile(1.0 - tail, hits + 1.0, n - hits)
        },
    }
}

/// The 95 % interval of a share whose hits may come in clusters (losses in bursts), from
/// `(hits, trials)` of at least five pieces of the measurement that are longer than a burst.
///
/// The spread between the pieces gives the effective number of independent trials, used in Clopper
/// and Pearson's interval (Korn and Graubard 1998). Without a hit clusters are unknown, and the
/// interval is that of independent trials. `None` with fewer than five pieces that have trials.
pub fn clustered(pieces: &[(u64, u64)]) -> Option<Interval> {
    let pieces: Vec<(f64, f64)> = pieces
        .iter()
        .filter(|(hits, n)| *n > 0 && hits <= n)
        .map(|&(hits, n)| (hits as f64, n as f64))
        .collect();
    let k = pieces.len() as f64;
    if pieces.len() < 5 {
        return None;
    }
    let hits: f64 = pieces.iter().map(|p| p.0).sum();
    let n: f64 = pieces.iter().map(|p| p.1).sum();
    let share = hits / n;
    // The variance of a ratio of sums, by the residuals of the pieces (Cochran 1977, 2.11).
    let residuals: f64 = pieces.iter().map(|(h, n)| (h - share * n).powi(2)).sum();
    let variance = k / (k - 1.0) * residuals / (n * n);
    if share == 0.0 || share == 1.0 || variance == 0.0 {
        return Some(beta_interval(hits, n));
    }
    // A variance of k - 1 degrees of freedom is itself uncertain: as Student's t to the normal.
    let tail = 0.5 + LEVEL / 2.0;
    let loss = (normal_quantile(tail) / t_quantile(tail, k - 1.0)).powi(2);
    let worth = (share * (1.0 - share) / variance * loss).min(n);
    Some(beta_interval(share * worth, worth))
}

/// The 95 % interval of the `p`-th percentile (0 to 100, ends excluded) of independent samples,
/// between two of them, for any distribution. `None` if there are too few samples to have one
/// beyond the percentile: 95 % of the median needs 6, P95 72 and P99 368.
///
/// Samples close in time are not independent: for delays under load use the percentile of each
/// repeat, and the interval over the repeats.
pub fn percentile_interval(samples: &[f64], p: f64) -> Option<Interval> {
    let tail = (1.0 - LEVEL) / 2.0;
    let share = p / 100.0;
    if !(share > 0.0 && share < 1.0) || samples.iter().any(|x| x.is_nan()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    // P(at least r of n samples are below the percentile) = I_share(r, n - r + 1).
    let at_least = |r: usize| beta_cdf(share, r as f64, (n - r + 1) as f64);
    // low: the largest r with P(fewer than r below) <= tail; high: the smallest with P(r or more
    // below) <= tail.
    let low = search(1, n + 1, |r| 1.0 - at_least(r) <= tail).checked_sub(1)?;
    let high = search(1, n + 1, |r| at_least(r) > tail);
    (low >= 1 && high <= n).then(|| Interval {
        low: sorted[low - 1],
        high: sorted[high - 1],
    })
}

/// The first number from `low` to `high` for which `holds` is false; `high` if there is no such
/// number.
fn search(mut low: usize, mut high: usize, holds: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(interval: Interval, low: f64, high: f64) {
        assert!(
            (interval.low - low).abs() < 5e-5 && (interval.high - high).abs() < 5e-5,
            "{interval:?}"
        );
    }

    #[test]
    fn intervals_are_those_of_the_literature() {
        // Newcombe 1998, table I: 15 of 148 and 0 of 20.
        near(wilson(15, 148).unwrap(), 0.0624, 0.1605);
        near(wilson(0, 20).unwrap(), 0.0, 0.1611);
        near(clopper_pearson(15, 148).unwrap(), 0.0578, 0.1617);
        near(clopper_pearson(0, 20).unwrap(), 0.0, 0.1684);
        assert_eq!(wilson(0, 0), None);
        assert_eq!(clopper_pearson(3, 2), None);
    }

    /// P(X >= 2) of three throws of a fair coin is 4 / 8; of at least none, 1.
    #[test]
    fn the_tail_of_a_fair_coin_is_counted() {
        let tail = |hits| binomial_tail(hits, 3, 0.5);
        assert!((tail(2).unwrap() - 0.5).abs() < 1e-9);
        assert!((tail(3).unwrap() - 0.125).abs() < 1e-9);
        assert_eq!((tail(0), tail(4)), (Some(1.0), None));
    }

    #[test]
    fn bursts_widen_the_interval() {
        let even = clustered(&[(10, 1000); 10]).unwrap();
        let bursts: Vec<_> = (0..10)
            .map(|i| (if i < 2 { 50 } else { 0 }, 1000))
            .collect();
        let bursts = clustered(&bursts).unwrap();
        assert!(bursts.half_width() > 3.0 * even.half_width());
        assert!(even.covers(0.01) && bursts.covers(0.01));
        assert_eq!(clustered(&[(1, 10); 4]), None);
    }

    #[test]
    fn a_percentile_needs_samples_beyond_it() {
        let ramp = |n: u32| (1..=n).map(f64::from).collect::<Vec<_>>();
        for (p, n) in [(50.0, 6), (95.0, 72), (99.0, 368)] {
            assert_eq!(percentile_interval(&ramp(n - 1), p), None, "{p}");
            assert!(percentile_interval(&ramp(n), p).is_some(), "{p}");
        }
        // 1 - 2 P(at most 1 of 9) = 96.1 %: the 2nd and the 8th.
        let nine = percentile_interval(&ramp(9), 50.0).unwrap();
        assert_eq!((nine.low, nine.high), (2.0, 8.0));
    }
}
