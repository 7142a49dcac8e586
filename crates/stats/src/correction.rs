//! p-values of many comparisons at once.

/// Holm's step-down correction (1979): with these p-values, rejecting those of at most α makes one
/// wrong rejection or more with probability α at most, for any dependence between the tests.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let n = p.len();
    let mut least = 0.0_f64;
    adjusted(p, order(p), |rank, p| {
        least = least.max((n - rank) as f64 * p);
        least
    })
}

/// The correction of Benjamini and Hochberg (1995): of the rejections at α, a share of at most α is
/// wrong on average, if the tests are independent or positively dependent. If nothing differs, the
/// probability of any rejection is at most α, as with Holm's.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let n = p.len();
    let mut most = 1.0_f64;
    adjusted(p, order(p).into_iter().rev().collect(), |place, p| {
        most = most.min(n as f64 / (n - place) as f64 * p);
        most
    })
}

/// Indices by rising p.
fn order(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    order
}

/// Adjusts each p in the given order by its place in it; no more than 1.
fn adjusted(p: &[f64], order: Vec<usize>, mut adjust: impl FnMut(usize, f64) -> f64) -> Vec<f64> {
    let mut out = vec![1.0; p.len()];
    for (place, at) in order.into_iter().enumerate() {
        out[at] = adjust(place, p[at]).min(1.0);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(actual: &[f64], expected: &[f64]) {
        for (a, e) in actual.iter().zip(expected) {
            assert!((a - e).abs() < 1e-12, "{actual:?} is not {expected:?}");
        }
    }

    #[test]
    fn corrections_are_those_of_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.5), "holm") and "BH".
        let p = [0.01, 0.04, 0.03, 0.005, 0.5];
        near(&holm(&p), &[0.04, 0.09, 0.09, 0.025, 0.5]);
        near(&benjamini_hochberg(&p), &[0.025, 0.05, 0.05, 0.025, 0.5]);
    }

    #[test]
    fn one_test_needs_no_correction() {
        near(&holm(&[0.2]), &[0.2]);
        near(&benjamini_hochberg(&[0.2]), &[0.2]);
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }
}
