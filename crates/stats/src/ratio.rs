//! Ratios of two sets of positive samples, with intervals.

use crate::{
    center::{BY_ORDER, logarithms, median_interval_at},
    distribution::{t_quantile, t_two_sided},
    interval::{Interval, LEVEL},
    order::{mean, median, standard_deviation},
    ranks::{mann_whitney, signed_rank_interval},
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
/// interval. `None` with fewer than three samples on a side, or if one is not positive.
pub fn ratio(above: &[f64], below: &[f64]) -> Option<Ratio> {
    ratio_at(above, below, LEVEL)
}

/// [`ratio`] for another chance of covering.
///
/// Fewer than eight samples on both sides: Welch's interval for the difference of the mean
/// logarithms (the estimate is still that of the medians). Else the intervals of the two medians
/// are put together (MOVER: Zou and Donner 2008), which needs no likeness of the two shapes.
pub fn ratio_at(above: &[f64], below: &[f64], level: f64) -> Option<Ratio> {
    let (a, b) = (logarithms(above)?, logarithms(below)?);
    let value = median(above)? / median(below)?;
    let interval = if above.len().max(below.len()) < BY_ORDER {
        let welch = Welch::of(&a, &b)?;
        let half = if welch.error > 0.0 {
            t_quantile(0.5 + level / 2.0, welch.df) * welch.error
        } else {
            0.0
        };
        Interval {
            low: welch.difference - half,
            high: welch.difference + half,
        }
    } else {
        let (a, b) = (Part::of(above, level)?, Part::of(below, level)?);
        let difference = a.center - b.center;
        Interval {
            low: difference - (a.center - a.low).hypot(b.high - b.center),
            high: difference + (a.high - a.center).hypot(b.center - b.low),
        }
    };
    Some(Ratio {
        value,
        interval: interval.exp(),
    })
}

/// One side of a ratio, in logarithms.
struct Part {
    center: f64,
    low: f64,
    high: f64,
}

impl Part {
    fn of(samples: &[f64], level: f64) -> Option<Self> {
        let interval = median_interval_at(samples, level)?;
        let (low, high) = (interval.low.ln(), interval.high.ln());
        let center = if samples.len() < BY_ORDER {
            0.5 * (low + high)
        } else {
            median(samples)?.ln()
        };
        // Interpolation may leave the median of very few values outside by a rounding error.
        Some(Self {
            center: center.clamp(low, high),
            low,
            high,
        })
    }
}

/// The difference of two means by Welch (1947).
struct Welch {
    difference: f64,
    /// Its standard error.
    error: f64,
    /// Degrees of freedom (Satterthwaite 1946).
    df: f64,
}

impl Welch {
    fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        if a.len() < 3 || b.len() < 3 {
            return None;
        }
        let part = |x: &[f64]| Some(standard_deviation(x)?.powi(2) / x.len() as f64);
        let (va, vb) = (part(a)?, part(b)?);
        let down = va.powi(2) / (a.len() - 1) as f64 + vb.powi(2) / (b.len() - 1) as f64;
        Some(Self {
            difference: mean(a)? - mean(b)?,
            error: (va + vb).sqrt(),
            df: (va + vb).powi(2) / down,
        })
    }
}

/// The chance of samples that differ as much as these or more if both sets come from the same
/// positive distribution. `None` with fewer than three samples on a side.
///
/// Eight and more on both sides: Mann and Whitney's test. Fewer: Welch's test on the logarithms
/// (the values, if one is not positive), since ranks of five against five cannot give less than
/// 0.8 %, too much for the many figures of a run.
pub fn difference_p(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len().min(b.len()) >= BY_ORDER {
        return mann_whitney(a, b).map(|test| test.p);
    }
    let welch = match (logarithms(a), logarithms(b)) {
        (Some(a), Some(b)) => Welch::of(&a, &b)?,
        _ => Welch::of(a, b)?,
    };
    Some(if welch.error > 0.0 {
        t_two_sided(welch.difference / welch.error, welch.df)
    } else {
        f64::from(u8::from(welch.difference == 0.0))
    })
}

/// The ratio between two things measured side by side in blocks, from one ratio for each block,
/// with its 95 % interval. `None` with fewer than three blocks, or if a ratio is not positive.
///
/// Eight blocks and more: Walsh averages of the logarithms (Hodges and Lehmann 1963, the interval
/// by the signed-rank distribution). Fewer: Student's t on the logarithms. Both want the logarithms
/// to lie evenly about their center, which they do if one thing is the other times a factor.
pub fn paired_ratio(ratios: &[f64]) -> Option<Ratio> {
    let logs = logarithms(ratios)?;
    if logs.len() < BY_ORDER {
        return Some(Ratio {
            value: median(ratios)?,
            interval: median_interval_at(ratios, LEVEL)?,
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
    fn welch_is_that_of_r() {
        // t.test(log(c(1, 2, 4)), log(c(8, 8, 16, 32))): means 0.6931 and 2.5993, variances of the
        // means 0.1602 and 0.1101, so t = -3.667 with 4.33 degrees of freedom. For 4 and 5 degrees
        // p is 0.0214 and 0.0145.
        let p = difference_p(&[1.0, 2.0, 4.0], &[8.0, 8.0, 16.0, 32.0]).unwrap();
        assert!((0.0186..0.0188).contains(&p), "{p}");
    }

    #[test]
    fn constant_samples_differ_or_do_not() {
        assert_eq!(difference_p(&[2.0; 4], &[2.0; 4]), Some(1.0));
        assert_eq!(difference_p(&[2.0; 4], &[3.0; 4]), Some(0.0));
        let same = ratio(&[2.0; 4], &[2.0; 5]).unwrap();
        assert_eq!((same.interval.low, same.interval.high), (1.0, 1.0));
    }
}
