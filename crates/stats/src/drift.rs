//! Drift over the order or the time of samples.

use crate::{distribution::normal_cdf, order::median, ranks::midranks};

/// A trend and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Change of the value for one unit of x: the median of the slopes between all pairs of points
    /// (Theil 1950, Sen 1968). Outliers do not move it.
    pub slope: f64,
    /// Kendall's S: pairs that rise less pairs that fall.
    pub s: f64,
    /// The p-value of S under random order (Mann 1945, Kendall 1975): exact for up to 20 points
    /// without ties, else by the normal approximation with corrections for ties and for continuity.
    pub p: f64,
}

/// The trend of points (x, y) with rising x. `None` with fewer than four points, too few for
/// significance at 5 %, or if all x are equal.
pub fn drift(points: &[(f64, f64)]) -> Option<Drift> {
    if points.len() < 4 || points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let mut slopes = Vec::new();
    let mut s = 0.0;
    for (i, (x0, y0)) in points.iter().enumerate() {
        for (x1, y1) in &points[i + 1..] {
            if x1 > x0 {
                slopes.push((y1 - y0) / (x1 - x0));
                s += f64::from(i8::from(y1 > y0) - i8::from(y1 < y0));
            }
        }
    }
    let ys: Vec<f64> = points.iter().map(|p| p.1).collect();
    Some(Drift {
        slope: median(&slopes)?,
        s,
        p: chance(s, &ys),
    })
}

/// The two-sided chance of Kendall's S.
fn chance(s: f64, values: &[f64]) -> f64 {
    let n = values.len();
    let (_, ties) = midranks(values);
    if ties == 0.0 && n <= 20 {
        return counted(s.abs(), n);
    }
    let n = n as f64;
    let variance = (n * (n - 1.0) * (2.0 * n + 5.0) - tie_term(values)) / 18.0;
    if variance <= 0.0 {
        return 1.0;
    }
    (2.0 * normal_cdf(-(s.abs() - 1.0).max(0.0) / variance.sqrt())).min(1.0)
}

/// The sum over groups of t equal values of t (t - 1) (2 t + 5).
fn tie_term(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
        .chunk_by(|a, b| a == b)
        .map(|group| {
            let t = group.len() as f64;
            t * (t - 1.0) * (2.0 * t + 5.0)
        })
        .sum()
}

/// The chance of |S| at least `s` over all orders of `n` values: S = n (n - 1) / 2 - 2 inversions.
fn counted(s: f64, n: usize) -> f64 {
    let pairs = n * (n - 1) / 2;
    // Orders with each number of inversions, as shares: adding a value as the k-th adds 0 to k - 1.
    let mut shares = vec![0.0; pairs + 1];
    shares[0] = 1.0;
    for k in 2..=n {
        let before = shares.clone();
        for (at, share) in shares.iter_mut().enumerate() {
            let from = (at + 1).saturating_sub(k);
            *share = before[from..=at].iter().sum::<f64>() / k as f64;
        }
    }
    shares
        .iter()
        .enumerate()
        .filter(|(inversions, _)| (pairs as f64 - 2.0 * *inversions as f64).abs() >= s)
        .map(|(_, share)| share)
        .sum::<f64>()
        .min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(ys: &[f64]) -> Vec<(f64, f64)> {
        (0..).map(f64::from).zip(ys.iter().copied()).collect()
    }

    #[test]
    fn a_line_with_one_outlier_keeps_its_slope() {
        let mut ys: Vec<f64> = (0..15).map(|i| 10.0 - 0.5 * f64::from(i)).collect();
        ys[7] = 900.0;
        let drift = drift(&points(&ys)).unwrap();
        assert!((drift.slope + 0.5).abs() < 1e-12);
        assert!(drift.p < 1e-4);
    }

    #[test]
    fn five_rising_are_one_order_of_120() {
        let drift = drift(&points(&[1.0, 2.0, 3.0, 4.0, 5.0])).unwrap();
        assert_eq!(drift.s, 10.0);
        assert!((drift.p - 2.0 / 120.0).abs() < 1e-12);
    }

    #[test]
    fn chances_are_those_of_kendalls_table() {
        // Kendall, Rank Correlation Methods, table 1: n = 8, S = 14: 0.054 on one side; n = 10,
        // S = 21: 0.036.
        assert!((counted(14.0, 8) / 2.0 - 0.054).abs() < 5e-4);
        assert!((counted(21.0, 10) / 2.0 - 0.036).abs() < 5e-4);
    }

    #[test]
    fn equal_values_have_no_drift() {
        let drift = drift(&points(&[3.0; 9])).unwrap();
        assert_eq!((drift.slope, drift.s, drift.p), (0.0, 0.0, 1.0));
    }

    #[test]
    fn three_points_show_nothing() {
        assert_eq!(drift(&points(&[1.0, 2.0, 3.0])), None);
    }
}
