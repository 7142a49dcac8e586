//! Permutation tests (Fisher 1935).

use crate::{order::median, random::Random};

/// The p-value: probability of a statistic at least as far from 0 as that of `a` and `b` under
/// random assignment to the sets. All splits are evaluated if there are at most 20,000, else 9,999
/// random ones; the smallest p is then 1 / 10,000. `None` if a set is empty.
pub fn permutation_p(
    a: &[f64],
    b: &[f64],
    statistic: impl Fn(&[f64], &[f64]) -> f64,
    random: &mut Random,
) -> Option<f64> {
    const ROUNDS: usize = 9_999;
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let observed = statistic(a, b).abs() * (1.0 - 1e-12);
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    if combinations(a.len(), b.len()) <= 20_000.0 {
        let (mut far, mut tried) = (0_usize, 0_usize);
        every_split(&all, a.len(), |a, b| {
            tried += 1;
            far += usize::from(statistic(a, b).abs() >= observed);
        });
        return Some(far as f64 / tried as f64);
    }
    let mut far = 1;
    for _ in 0..ROUNDS {
        random.shuffle(&mut all);
        let (a, b) = all.split_at(a.len());
        far += usize::from(statistic(a, b).abs() >= observed);
    }
    Some(far as f64 / (ROUNDS + 1) as f64)
}

/// Returns the number of ways to choose the first set.
fn combinations(n: usize, m: usize) -> f64 {
    (1..=n.min(m)).fold(1.0, |combinations, i| {
        combinations * (n.max(m) + i) as f64 / i as f64
    })
}

/// Calls `visit` with each choice of `n` of the values, and the others.
fn every_split(values: &[f64], n: usize, mut visit: impl FnMut(&[f64], &[f64])) {
    let others = values.len() - n;
    let mut chosen: Vec<usize> = (0..n).collect();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    loop {
        a.clear();
        b.clear();
        for (i, &value) in values.iter().enumerate() {
            if chosen.binary_search(&i).is_ok() {
                a.push(value);
            } else {
                b.push(value);
            }
        }
        visit(&a, &b);
        // The next set of indices in lexical order.
        let Some(at) = (0..n).rev().find(|&i| chosen[i] < others + i) else {
            return;
        };
        chosen[at] += 1;
        for i in at + 1..n {
            chosen[i] = chosen[i - 1] + 1;
        }
    }
}

/// The logarithm of the ratio of two medians: a statistic for [`permutation_p`] of positive
/// samples.
pub fn ln_ratio_of_medians(a: &[f64], b: &[f64]) -> f64 {
    match (median(a), median(b)) {
        (Some(a), Some(b)) if a > 0.0 && b > 0.0 => (a / b).ln(),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mann_whitney, mean};

    #[test]
    fn rank_sums_permuted_are_the_exact_test_of_mann_and_whitney() {
        let (a, b) = ([1.0, 4.0, 5.0, 9.0], [2.0, 8.0, 10.0, 11.0, 12.0]);
        let u = |a: &[f64], b: &[f64]| {
            let wins = a
                .iter()
                .map(|x| b.iter().filter(|y| x > *y).count())
                .sum::<usize>();
            wins as f64 - 10.0
        };
        let p = permutation_p(&a, &b, u, &mut Random::new(1)).unwrap();
        assert!((p - mann_whitney(&a, &b).unwrap().p).abs() < 1e-12);
    }

    #[test]
    fn random_splits_agree_with_a_count() {
        // 12 over 6 = 924 splits are enumerated; 22 over 11 splits of the same values are sampled.
        let difference = |a: &[f64], b: &[f64]| mean(a).unwrap_or(0.0) - mean(b).unwrap_or(0.0);
        let a: Vec<f64> = (0..11).map(|i| f64::from(i) + 3.0).collect();
        let b: Vec<f64> = (0..11).map(f64::from).collect();
        let p = permutation_p(&a, &b, difference, &mut Random::new(1)).unwrap();
        // t = 2.12 with 20 degrees of freedom: p = 0.0465; a permutation test of means is near it.
        assert!((0.035..0.06).contains(&p), "{p}");
    }

    #[test]
    fn medians_three_apart_in_logarithms() {
        let (a, b) = ([8.0, 8.0, 9.0], [1.0, 1.0, 1.0]);
        assert!((ln_ratio_of_medians(&a, &b) - 8.0_f64.ln()).abs() < 1e-12);
        let p = permutation_p(&a, &b, ln_ratio_of_medians, &mut Random::new(1)).unwrap();
        // Of the 20 splits those with two or three of the eights on one side have |ratio| 8.
        assert_eq!(p, 1.0);
    }
}
