//! The difference of two sets of samples.

use crate::{
    center::{BY_ORDER, location},
    distribution::{t_quantile, t_two_sided},
    interval::{Interval, LEVEL},
    order::{mean, median, standard_deviation},
    ranks::mann_whitney,
};

/// Fewest samples on the larger side if the smaller has one or two.
const ENOUGH: usize = 5;

/// A difference with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The estimate.
    pub value: f64,
    /// The interval of the true difference.
    pub interval: Interval,
}

/// The difference of the medians of `a` and `b`, independent samples, with its 95 % interval.
/// Skewed samples are better compared by their [`crate::ratio`].
///
/// - Eight samples and more on a side: the intervals of the two medians are put together (MOVER:
///   Zou and Donner 2008), which needs no likeness of the two shapes.
/// - Three to seven on both sides: Welch's interval (1947).
/// - One or two against five and more: Student's interval, as if both sides had one spread. Against
///   fewer there is no interval.
pub fn difference(a: &[f64], b: &[f64]) -> Option<Difference> {
    difference_at(a, b, LEVEL)
}

/// [`difference`] for another chance of covering.
pub(crate) fn difference_at(a: &[f64], b: &[f64], level: f64) -> Option<Difference> {
    let interval = match Means::of(a, b) {
        Some(means) => means.interval(level),
        None => mover(a, b, level)?,
    };
    Some(Difference {
        value: median(a)? - median(b)?,
        interval,
    })
}

/// The p-value: probability of samples that differ at least as much as these if both sets are from
/// the same distribution. `None` if they are too few (see [`difference`]).
///
/// Eight and more on both sides: Mann and Whitney's test. Fewer: Welch's or Student's test, since
/// ranks of five against five cannot give less than 0.8 %, too high for the many figures of a run.
pub fn difference_p(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len().min(b.len()) >= BY_ORDER {
        return mann_whitney(a, b).map(|test| test.p);
    }
    let means = Means::pooled(a, b).or_else(|| Means::welch(a, b))?;
    Some(if means.error > 0.0 {
        t_two_sided(means.difference / means.error, means.df)
    } else {
        f64::from(u8::from(means.difference == 0.0))
    })
}

/// The combined intervals of two medians.
fn mover(a: &[f64], b: &[f64], level: f64) -> Option<Interval> {
    let (a, b) = (Part::of(a, level)?, Part::of(b, level)?);
    let difference = a.center - b.center;
    Some(Interval {
        low: difference - (a.center - a.interval.low).hypot(b.interval.high - b.center),
        high: difference + (a.interval.high - a.center).hypot(b.center - b.interval.low),
    })
}

/// A side: its center and the interval of the center.
struct Part {
    center: f64,
    interval: Interval,
}

impl Part {
    fn of(samples: &[f64], level: f64) -> Option<Self> {
        let interval = location(samples, level)?;
        let center = if samples.len() < BY_ORDER {
            mean(samples)?
        } else {
            median(samples)?
        };
        // Interpolation may leave the median of equal values outside by a rounding error.
        let center = center.clamp(interval.low, interval.high);
        Some(Self { center, interval })
    }
}

/// The difference of two means.
struct Means {
    difference: f64,
    /// Its standard error.
    error: f64,
    /// Degrees of freedom.
    df: f64,
}

impl Means {
    /// The method for few samples; `None` if there are enough for another one, or too few.
    fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        if a.len().max(b.len()) < BY_ORDER {
            Self::pooled(a, b).or_else(|| Self::welch(a, b))
        } else {
            Self::pooled(a, b)
        }
    }

    /// With a spread for each side (degrees of freedom: Satterthwaite 1946).
    fn welch(a: &[f64], b: &[f64]) -> Option<Self> {
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

    /// With a common spread, if one side is too small to estimate its own.
    fn pooled(a: &[f64], b: &[f64]) -> Option<Self> {
        let (n, m) = (a.len() as f64, b.len() as f64);
        let few = a.len().min(b.len());
        if few == 0 || few > 2 || a.len().max(b.len()) < ENOUGH {
            return None;
        }
        let squares = |x: &[f64]| {
            let spread = standard_deviation(x).unwrap_or(0.0);
            spread.powi(2) * (x.len() - 1) as f64
        };
        let variance = (squares(a) + squares(b)) / (n + m - 2.0);
        Some(Self {
            difference: mean(a)? - mean(b)?,
            error: (variance * (1.0 / n + 1.0 / m)).sqrt(),
            df: n + m - 2.0,
        })
    }

    fn interval(&self, level: f64) -> Interval {
        let half = if self.error > 0.0 {
            t_quantile(0.5 + level / 2.0, self.df) * self.error
        } else {
            0.0
        };
        Interval {
            low: self.difference - half,
            high: self.difference + half,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welch_is_that_of_the_textbook() {
        // Logarithms of 1, 2, 4 and of 8, 8, 16, 32: means 0.6931 and 2.5993, variances of the
        // means 0.1602 and 0.1101, so t = -3.667 with 4.33 degrees of freedom. For 4 and 5 degrees
        // p is 0.0214 and 0.0145.
        let ln = |x: &[f64]| x.iter().map(|x| x.ln()).collect::<Vec<_>>();
        let (a, b) = (ln(&[1.0, 2.0, 4.0]), ln(&[8.0, 8.0, 16.0, 32.0]));
        let p = difference_p(&a, &b).unwrap();
        assert!((0.0186..0.0188).contains(&p), "{p}");
        let difference = difference(&a, &b).unwrap();
        assert!(difference.interval.high < 0.0 && difference.interval.low < -3.0);
    }

    #[test]
    fn one_sample_is_compared_with_the_prediction_of_the_others() {
        // Mean 3, deviation 1.5811, n = 5: 3 +- 2.7764 * 1.5811 * sqrt(6 / 5) is 3 +- 4.8088.
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        let one = difference(&[3.0], &five).unwrap();
        assert!((one.interval.high - 4.8088).abs() < 1e-3, "{one:?}");
        let p = difference_p(&[3.0 + 4.8088], &five).unwrap();
        assert!((p - 0.05).abs() < 1e-4, "{p}");
        assert_eq!(difference(&[3.0], &five[..4]), None);
        assert_eq!(difference_p(&[], &five), None);
    }

    #[test]
    fn values_of_zero_have_a_difference() {
        let none = [0.0; 9];
        let some = [0.0, 0.01, 0.02, 0.01, 0.02, 0.02, 0.01, 0.02, 0.03];
        let difference = difference(&some, &none).unwrap();
        assert!(difference.value > 0.0 && difference.interval.low > 0.0);
        assert!(difference_p(&some, &none).unwrap() < 0.01);
    }
}
