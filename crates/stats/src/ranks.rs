//! Tests and estimates by ranks.

use crate::{
    distribution::{ln_gamma, normal_cdf, normal_quantile},
    interval::Interval,
    order::median,
};

/// Ranks from 1, ties sharing the mean of theirs, and the sum over all ties of t³ - t, where t is
/// the number that are equal.
pub(crate) fn midranks(values: &[f64]) -> (Vec<f64>, f64) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut ties = 0.0;
    let mut start = 0;
    while start < order.len() {
        let mut end = start + 1;
        while end < order.len() && values[order[end]] == values[order[start]] {
            end += 1;
        }
        for &at in &order[start..end] {
            ranks[at] = (start + 1 + end) as f64 / 2.0;
        }
        let t = (end - start) as f64;
        ties += t.powi(3) - t;
        start = end;
    }
    (ranks, ties)
}

/// ln of n over k.
fn ln_choose(n: usize, k: usize) -> f64 {
    ln_gamma(n as f64 + 1.0) - ln_gamma(k as f64 + 1.0) - ln_gamma((n - k) as f64 + 1.0)
}

/// Returns how many of the equally likely orders of `n` and `m` samples have U = 0, 1, … `up_to`:
/// the coefficients of a Gaussian binomial. Exact while n + m over n is below 2^53.
fn counts_of_u(n: usize, m: usize, up_to: usize) -> Vec<f64> {
    let mut counts = vec![0.0; up_to + 1];
    counts[0] = 1.0;
    for i in 1..=n {
        for u in (m + i..=up_to).rev() {
            counts[u] -= counts[u - m - i];
        }
        for u in i..=up_to {
            counts[u] += counts[u - i];
        }
    }
    counts
}

/// Returns true if the counts of U are small enough to be exact in a float (below e^36 < 2^53).
fn countable(n: usize, m: usize) -> bool {
    ln_choose(n + m, n) < 36.0
}

/// The chance of U at most `u` (rounded down) without ties; `None` where it cannot be counted.
pub(crate) fn exact_lower_tail(u: f64, n: usize, m: usize) -> Option<f64> {
    if !countable(n, m) {
        return None;
    }
    let counts = counts_of_u(n.min(m), n.max(m), u.max(0.0).floor() as usize);
    Some(counts.iter().sum::<f64>() / ln_choose(n + m, n).exp())
}

/// The outcome of Mann and Whitney's test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// Number of pairs in which the first sample is larger; ties count half.
    pub u: f64,
    /// Two-sided p-value: probability of a U as far from its mean if both sets are from one
    /// distribution.
    pub p: f64,
    /// True if `p` was counted; false for the normal approximation with corrections for ties and
    /// for continuity.
    pub exact: bool,
}

/// Mann and Whitney's test (1947), also named after Wilcoxon: whether one set tends to have larger
/// values. `None` if a set is empty or contains a value that is not a number.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    let (n, m) = (a.len(), b.len());
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    if n == 0 || m == 0 || all.iter().any(|x| x.is_nan()) {
        return None;
    }
    let (ranks, ties) = midranks(&all);
    let u = ranks[..n].iter().sum::<f64>() - (n * (n + 1)) as f64 / 2.0;
    let pairs = (n * m) as f64;
    let least = u.min(pairs - u);
    if ties == 0.0
        && let Some(tail) = exact_lower_tail(least, n, m)
    {
        return Some(MannWhitney {
            u,
            p: (2.0 * tail).min(1.0),
            exact: true,
        });
    }
    let all = (n + m) as f64;
    let variance = pairs / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    let p = if variance > 0.0 {
        let z = (least - pairs / 2.0 + 0.5).min(0.0) / variance.sqrt();
        2.0 * normal_cdf(z)
    } else {
        1.0
    };
    Some(MannWhitney { u, p, exact: false })
}

/// Shift of the values of `a` above those of `b`, with its interval of at least confidence `level`,
/// if one distribution is the other shifted (Hodges and Lehmann 1963). `None` if the sets are too
/// small for the level: 95 % needs four and four, or three and five.
pub fn shift(a: &[f64], b: &[f64], level: f64) -> Option<(f64, Interval)> {
    let mut differences: Vec<f64> = a
        .iter()
        .flat_map(|x| b.iter().map(move |y| x - y))
        .collect();
    differences.sort_by(f64::total_cmp);
    let depth = depth_of_u(a.len(), b.len(), (1.0 - level) / 2.0)?;
    let interval = Interval {
        low: *differences.get(depth - 1)?,
        high: *differences.get(differences.len() - depth)?,
    };
    Some((median(&differences)?, interval))
}

/// The largest k with a chance of U below k of at most `tail`; `None` if that is 0.
fn depth_of_u(n: usize, m: usize, tail: f64) -> Option<usize> {
    if n == 0 || m == 0 {
        return None;
    }
    let k = if countable(n, m) {
        let all = ln_choose(n + m, n).exp();
        deepest(&counts_of_u(n.min(m), n.max(m), n * m / 2), tail * all)
    } else {
        let (n, m) = (n as f64, m as f64);
        let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
        (n * m / 2.0 + normal_quantile(tail) * deviation)
            .floor()
            .max(0.0) as usize
    };
    (k > 0).then_some(k)
}

/// Returns how many of the first counts sum to at most `limit`.
fn deepest(counts: &[f64], limit: f64) -> usize {
    let mut sum = 0.0;
    counts
        .iter()
        .take_while(|&&count| {
            sum += count;
            sum <= limit * (1.0 + 1e-12)
        })
        .count()
}

/// The center of evenly spread samples, the median of their Walsh averages, and its interval by
/// the signed-rank distribution. `None` with fewer than six samples for 95 %.
pub fn signed_rank_interval(samples: &[f64], level: f64) -> Option<(f64, Interval)> {
    let n = samples.len();
    let tail = (1.0 - level) / 2.0;
    let depth = if n <= 50 {
        deepest(&counts_of_ranks(n), tail * 2.0_f64.powi(n as i32))
    } else {
        let n = n as f64;
        let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        (n * (n + 1.0) / 4.0 + normal_quantile(tail) * deviation).floor() as usize
    };
    if depth == 0 {
        return None;
    }
    let mut averages: Vec<f64> = (0..n)
        .flat_map(|i| (i..n).map(move |j| 0.5 * (samples[i] + samples[j])))
        .collect();
    averages.sort_by(f64::total_cmp);
    let interval = Interval {
        low: averages[depth - 1],
        high: averages[averages.len() - depth],
    };
    Some((median(&averages)?, interval))
}

/// Returns how many of the 2^n sign combinations give a sum of positive ranks of 0, 1, … n (n + 1)
/// / 4.
fn counts_of_ranks(n: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n * (n + 1) / 4 + 1];
    counts[0] = 1.0;
    for rank in 1..=n {
        for sum in (rank..counts.len()).rev() {
            counts[sum] += counts[sum - rank];
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// U of every way to choose `n` of the ranks 1 to `n + m`.
    fn every_u(n: usize, m: usize) -> Vec<usize> {
        (0_u32..1 << (n + m))
            .filter(|set| set.count_ones() as usize == n)
            .map(|set| {
                let sum: usize = (0..n + m)
                    .filter(|i| set >> i & 1 == 1)
                    .map(|i| i + 1)
                    .sum();
                sum - n * (n + 1) / 2
            })
            .collect()
    }

    #[test]
    fn counts_of_u_are_those_of_every_order() {
        for (n, m) in [(1, 1), (2, 5), (4, 4), (6, 3), (5, 7)] {
            let all = every_u(n, m);
            let counts = counts_of_u(n, m, n * m);
            for (u, count) in counts.iter().enumerate() {
                assert_eq!(all.iter().filter(|&&x| x == u).count() as f64, *count);
            }
        }
    }

    #[test]
    fn five_against_five_apart_give_the_smallest_chance_there_is() {
        let test = mann_whitney(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]).unwrap();
        assert_eq!((test.u, test.exact), (0.0, true));
        assert!((test.p - 2.0 / 252.0).abs() < 1e-12);
    }

    #[test]
    fn ties_are_corrected_for_as_in_the_textbook() {
        // R: wilcox.test(c(1, 2, 2, 3), c(2, 3, 4, 4), exact = FALSE)$p.value = 0.1367; by hand:
        // U = 2.5, tie sum 24 + 6 + 6, variance 16 / 12 (9 - 36 / 56) = 11.14286.
        let test = mann_whitney(&[1.0, 2.0, 2.0, 3.0], &[2.0, 3.0, 4.0, 4.0]).unwrap();
        let expected = 2.0 * normal_cdf((2.5 - 8.0 + 0.5) / 11.142_857_f64.sqrt());
        assert!(!test.exact && test.u == 2.5);
        assert!((test.p - expected).abs() < 1e-6, "{} {expected}", test.p);
    }

    #[test]
    fn the_approximation_meets_the_count() {
        let a: Vec<f64> = (0..12).map(|i| f64::from(i) * 1.7).collect();
        let b: Vec<f64> = (0..15).map(|i| f64::from(i) * 1.3 + 4.05).collect();
        let exact = mann_whitney(&a, &b).unwrap();
        assert!(exact.exact);
        let mut tied = b.clone();
        tied[14] = tied[13];
        let near = mann_whitney(&a, &tied).unwrap();
        assert!(!near.exact && (near.p / exact.p - 1.0).abs() < 0.1);
    }

    #[test]
    fn shift_finds_the_added_constant() {
        let b = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0];
        let a = b.map(|x| x + 3.0);
        let (estimate, interval) = shift(&a, &b, 0.95).unwrap();
        assert_eq!(estimate, 3.0);
        assert!(interval.covers(3.0));
        assert_eq!(shift(&a[..3], &b[..3], 0.95), None);
        assert!(shift(&a[..4], &b[..4], 0.95).is_some());
    }

    #[test]
    fn depths_are_those_of_tables() {
        // Hollander and Wolfe, table A.6: n = m = 10, 2.5 %: 23 values of U are beyond.
        assert_eq!(depth_of_u(10, 10, 0.025), Some(24));
        // Signed rank, n = 10, 2.5 %: critical value 8.
        let tens: Vec<f64> = (1..=10).map(f64::from).collect();
        let (center, interval) = signed_rank_interval(&tens, 0.95).unwrap();
        assert_eq!(center, 5.5);
        assert_eq!(deepest(&counts_of_ranks(10), 0.025 * 1024.0), 9);
        assert!((interval.low + interval.high - 11.0).abs() < 1e-12);
        assert_eq!(signed_rank_interval(&tens[..5], 0.95), None);
    }
}
