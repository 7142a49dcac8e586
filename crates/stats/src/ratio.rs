//! Ratios of two sets of positive samples, with intervals.

use crate::{
    center::{BY_ORDER, logarithms, median_interval},
    difference::{difference_at, difference_p},
    interval::{Interval, LEVEL},
    order::median,
    ranks::signed_rank_interval,
};

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The estimate.
    pub value: f64,
    /// The interval of the true ratio.
    pub interval: Interval,
}

/// The ratio of the median of `above` to that of `below`, independent samples, with its 95 %
/// interval: the [`crate::difference`] of the logarithms. `None` if the samples are too few, or if
/// one is not positive.
pub fn ratio(above: &[f64], below: &[f64]) -> Option<Ratio> {
    ratio_at(above, below, LEVEL)
}

/// [`ratio`] for another chance of covering.
pub fn ratio_at(above: &[f64], below: &[f64], level: f64) -> Option<Ratio> {
    let difference = difference_at(&logarithms(above)?, &logarithms(below)?, level)?;
    Some(Ratio {
        value: median(above)? / median(below)?,
        interval: difference.interval.exp(),
    })
}

/// The p-value: probability of positive samples whose ratio is at least as far from 1 if both sets
/// are from the same distribution. `None` if they are too few, or if one is not positive.
pub fn ratio_p(a: &[f64], b: &[f64]) -> Option<f64> {
    difference_p(&logarithms(a)?, &logarithms(b)?)
}

/// The ratio of two quantities measured side by side in blocks, from one ratio per block, with its
/// 95 % interval. `None` with fewer than three blocks, or if a ratio is not positive.
///
/// Eight blocks and more: Walsh averages of the logarithms (Hodges and Lehmann 1963, the interval
/// by the signed-rank distribution). Fewer: Student's t on the logarithms. Both assume that the
/// logarithms are symmetric about their center, which holds if one quantity is the other times a
/// factor.
pub fn paired_ratio(ratios: &[f64]) -> Option<Ratio> {
    let logs = logarithms(ratios)?;
    if logs.len() < BY_ORDER {
        return Some(Ratio {
            value: median(ratios)?,
            interval: median_interval(ratios)?,
        });
    }
    let (center, interval) = signed_rank_interval(&logs, LEVEL)?;
    Some(Ratio {
        value: center.exp(),
        interval: interval.exp(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_needs_three_positive_samples_on_both_sides() {
        assert_eq!(ratio(&[1.0, 2.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(ratio(&[1.0, 2.0, 0.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(paired_ratio(&[1.0, 2.0]), None);
    }

    #[test]
    fn turning_a_ratio_over_turns_its_interval_over() {
        let a = [9.1, 8.7, 9.9, 9.3, 9.0, 9.2, 8.8, 9.4, 9.6];
        let b = [4.1, 4.7, 3.9, 4.3];
        for (a, b) in [(&a[..], &b[..]), (&a[..5], &b[..])] {
            let (up, down) = (ratio(a, b).unwrap(), ratio(b, a).unwrap());
            assert!((up.value * down.value - 1.0).abs() < 1e-12);
            assert!((up.interval.low * down.interval.high - 1.0).abs() < 1e-12);
            assert!((up.interval.high * down.interval.low - 1.0).abs() < 1e-12);
            assert!(up.interval.covers(up.value));
        }
    }

    #[test]
    fn constant_samples_differ_or_do_not() {
        assert_eq!(ratio_p(&[2.0; 4], &[2.0; 4]), Some(1.0));
        assert_eq!(ratio_p(&[2.0; 4], &[3.0; 4]), Some(0.0));
        let same = ratio(&[2.0; 4], &[2.0; 5]).unwrap();
        assert_eq!((same.interval.low, same.interval.high), (1.0, 1.0));
    }
}
