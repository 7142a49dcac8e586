//! Intervals of a median and of a mean that hold for a handful of skewed samples.
//!
//! The choice of methods, and the coverage they reach, is in `docs/statistics.md`;
//! `tests/coverage.rs` measures it.

use crate::{
    distribution::t_quantile,
    interval::{Interval, LEVEL},
    order::{mean, median, standard_deviation},
    random::Random,
};

/// From this number of samples on, an interval of the median uses their order alone.
pub(crate) const BY_ORDER: usize = 8;

/// The 95 % interval of the median of the samples' distribution. `None` with fewer than three
/// samples, too few for a useful interval, or if one is not finite.
///
/// Eight samples and more: order statistics, interpolated (Hettmansperger and Sheather 1986), for
/// any distribution. Three to seven: Student's t on the logarithms (on the values, if one is not
/// positive), because order statistics of so few cannot reach 95 %; it assumes that the logarithms
/// are roughly symmetric about the median.
pub fn median_interval(samples: &[f64]) -> Option<Interval> {
    median_interval_at(samples, LEVEL)
}

/// [`median_interval`] for another chance of covering the median, `level`, from 0.5 to below 1.
pub fn median_interval_at(samples: &[f64], level: f64) -> Option<Interval> {
    if samples.len() < 3 || !samples.iter().all(|x| x.is_finite()) {
        return None;
    }
    match logarithms(samples) {
        Some(logs) if samples.len() < BY_ORDER => location(&logs, level).map(Interval::exp),
        _ => location(samples, level),
    }
}

/// The interval of the centre of the samples' distribution: by order statistics or, if there are
/// too few, by Student's t, which assumes a roughly symmetric distribution. `None` below three.
pub(crate) fn location(samples: &[f64], level: f64) -> Option<Interval> {
    let by_order = (samples.len() >= BY_ORDER).then(|| by_order(samples, level));
    by_order
        .flatten()
        .or_else(|| (samples.len() >= 3).then(|| student(samples, level))?)
}

/// The natural logarithms; `None` unless all values are positive.
pub(crate) fn logarithms(samples: &[f64]) -> Option<Vec<f64>> {
    samples.iter().map(|&x| (x > 0.0).then(|| x.ln())).collect()
}

/// Student's interval of a mean.
fn student(samples: &[f64], level: f64) -> Option<Interval> {
    let (n, center) = (samples.len() as f64, mean(samples)?);
    let t = t_quantile(0.5 + level / 2.0, n - 1.0);
    let half = t * standard_deviation(samples)? / n.sqrt();
    Some(Interval {
        low: center - half,
        high: center + half,
    })
}

/// The interpolated interval between order statistics; `None` if even the whole range covers the
/// median less often than `level`.
fn by_order(samples: &[f64], level: f64) -> Option<Interval> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    // coverage = 1 - 2 P(fewer than `depth` of n samples are below the median), depth from 1.
    let mut depth = 1;
    let mut chance = 0.5_f64.powi(n as i32);
    let mut coverage = 1.0 - 2.0 * chance;
    if coverage < level {
        return None;
    }
    loop {
        chance *= (n - depth + 1) as f64 / depth as f64;
        let next = coverage - 2.0 * chance;
        if next < level || 2 * (depth + 1) > n {
            // Interpolation weight toward the next pair that keeps the level (their formula 2.1).
            let part = ((coverage - level) / (coverage - next)).min(1.0);
            let (n_, d) = (n as f64, depth as f64);
            let share = (n_ - d) * part / (d + (n_ - 2.0 * d) * part);
            let between = |outer: f64, inner: f64| outer + share * (inner - outer);
            return Some(Interval {
                low: between(sorted[depth - 1], sorted[depth.min(n - 1)]),
                high: between(sorted[n - depth], sorted[n - depth - 1]),
            });
        }
        coverage = next;
        depth += 1;
    }
}

/// The 95 % interval of the mean of the samples' distribution, by the bootstrap-t (Efron and
/// Tibshirani 1993, chapter 12.5), which follows the skew. `None` with fewer than five samples, or
/// if one is not finite.
///
/// Where a few values are very large, a mean needs far more samples than a median.
pub fn mean_interval(samples: &[f64], random: &mut Random) -> Option<Interval> {
    if samples.len() < 5 || !samples.iter().all(|x| x.is_finite()) {
        return None;
    }
    let mut interval = bootstrap_t(samples, random).or_else(|| by_delta(samples))?;
    if samples.iter().all(|&x| x >= 0.0) {
        interval.low = interval.low.max(0.0);
    }
    Some(interval)
}

/// Student's interval of ln(mean), with the error of the mean propagated to first order: for
/// samples whose ties prevent the bootstrap.
fn by_delta(samples: &[f64]) -> Option<Interval> {
    let (n, center) = (samples.len() as f64, mean(samples)?);
    if center <= 0.0 || samples.iter().any(|&x| x < 0.0) {
        return student(samples, LEVEL);
    }
    let t = t_quantile(0.5 + LEVEL / 2.0, n - 1.0);
    let half = t * standard_deviation(samples)? / n.sqrt() / center;
    Some(Interval {
        low: center * (-half).exp(),
        high: center * half.exp(),
    })
}

/// The bootstrap-t interval; `None` if ties leave too many resamples without spread.
fn bootstrap_t(samples: &[f64], random: &mut Random) -> Option<Interval> {
    const ROUNDS: usize = 1999;
    let (n, center) = (samples.len(), mean(samples)?);
    let error = standard_deviation(samples)? / (n as f64).sqrt();
    let mut drawn = vec![0.0; n];
    let mut ts = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        drawn.fill_with(|| samples[random.below(n)]);
        let away = mean(&drawn)? - center;
        let spread = standard_deviation(&drawn)? / (n as f64).sqrt();
        ts.push(if away == 0.0 { 0.0 } else { away / spread });
    }
    ts.sort_by(f64::total_cmp);
    // 2 % beyond either end, not 2.5: with so few samples the method covers one or two points less
    // than it should.
    let beyond = (ROUNDS + 1) / 50;
    let interval = Interval {
        low: center - ts[ROUNDS - beyond] * error,
        high: center - ts[beyond - 1] * error,
    };
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

/// Variance of the median of three samples of a normal distribution, by that of one sample (David,
/// Nagaraja: Order Statistics, 2003, table 8.6).
pub const MEDIAN_OF_THREE: f64 = 0.4487;

/// Half width of the interval around the mean that holds one further value of a normal
/// distribution with a probability of `level`: Student's t times the deviation times
/// sqrt(v + 1 / n), where v is the `variance` of the value by that of a sample: 1 for a further
/// sample, 1 / m for the mean of m, [`MEDIAN_OF_THREE`] (Hahn, Meeker: Statistical Intervals, 1991,
/// 4.7 and 4.8). A deviation that is `known` from elsewhere counts as `counts` more samples: few
/// samples do not show theirs, and one none. `None` without samples, or if nothing is known of
/// their deviation.
pub fn prediction_half_width(
    samples: &[f64],
    variance: f64,
    level: f64,
    [known, counts]: [f64; 2],
) -> Option<f64> {
    let (n, centre) = (samples.len() as f64, mean(samples)?);
    let freedom = n - 1.0 + counts;
    if freedom <= 0.0 {
        return None;
    }
    let squares: f64 = samples.iter().map(|v| (v - centre).powi(2)).sum();
    let deviation = ((squares + counts * known * known) / freedom).sqrt();
    let t = t_quantile(f64::midpoint(1.0, level), freedom);
    Some(t * deviation * (variance + 1.0 / n).sqrt())
}

/// Half the width of the 95 % interval of the median, relative to the median.
pub fn relative_half_width(samples: &[f64], level: f64) -> Option<f64> {
    let (interval, center) = (median_interval_at(samples, level)?, median(samples)?);
    (center != 0.0).then(|| interval.half_width() / center.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::normal_quantile;

    /// Share of medians of `further` samples within the prediction from `n` samples.
    fn held(n: usize, further: usize, variance: f64, known: [f64; 2]) -> f64 {
        let mut random = Random::new(5);
        let normal = |random: &mut Random| normal_quantile(random.unit());
        let draws = 4000;
        let mut held = 0;
        for _ in 0..draws {
            let seen: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
            let next: Vec<f64> = (0..further).map(|_| normal(&mut random)).collect();
            let away = (median(&next).unwrap() - mean(&seen).unwrap()).abs();
            let half = prediction_half_width(&seen, variance, 0.9, known).unwrap();
            held += usize::from(away <= half);
        }
        held as f64 / f64::from(draws)
    }

    #[test]
    fn nine_of_ten_further_samples_lie_within_the_prediction() {
        let share = held(4, 1, 1.0, [0.0, 0.0]);
        assert!((0.88..0.92).contains(&share), "{share}");
    }

    #[test]
    fn nine_of_ten_medians_of_three_further_samples_lie_within_their_prediction() {
        let share = held(4, 3, MEDIAN_OF_THREE, [0.0, 0.0]);
        assert!((0.88..0.92).contains(&share), "{share}");
    }

    /// One pair was predicted as if it had no spread, and the outcome was far outside.
    #[test]
    fn one_sample_has_the_spread_that_is_known_from_elsewhere_or_none() {
        // A deviation known exactly counts as two samples, hence the interval is wider than needed.
        let share = held(1, 1, 1.0, [1.0, 2.0]);
        assert!(share >= 0.9, "{share}");
        assert_eq!(prediction_half_width(&[0.5], 1.0, 0.9, [0.0, 0.0]), None);
        assert_eq!(prediction_half_width(&[], 1.0, 0.9, [1.0, 2.0]), None);
    }

    #[test]
    fn two_samples_have_no_interval() {
        assert_eq!(median_interval(&[1.0, 2.0]), None);
        assert_eq!(
            mean_interval(&[1.0, 2.0, 3.0, 4.0], &mut Random::new(1)),
            None
        );
    }

    #[test]
    fn samples_with_nan_have_no_interval() {
        assert_eq!(median_interval(&[1.0, 2.0, f64::NAN]), None);
    }

    #[test]
    fn order_statistics_are_those_of_the_binomial() {
        // Nine samples: the interval from the 2nd to the 8th covers 1 - 2 (1 + 9) / 2^9 = 96.1 %.
        let nine: Vec<f64> = (1..=9).map(f64::from).collect();
        let at = 1.0 - 20.0 / 512.0;
        let interval = median_interval_at(&nine, at).unwrap();
        assert!((interval.low - 2.0).abs() < 1e-9 && (interval.high - 8.0).abs() < 1e-9);
        // The interval of a lower level is inside.
        let inside = median_interval(&nine).unwrap();
        assert!(inside.low > 2.0 && inside.low < 3.0, "{inside:?}");
    }

    #[test]
    fn a_handful_that_agrees_has_a_point() {
        for n in [3, 7, 8, 20] {
            let same = vec![4.0; n];
            let interval = median_interval(&same).unwrap();
            assert!((interval.low - 4.0).abs() < 1e-12 && (interval.high - 4.0).abs() < 1e-12);
        }
        for n in [5, 20] {
            let interval = mean_interval(&vec![4.0; n], &mut Random::new(1)).unwrap();
            assert_eq!((interval.low, interval.high), (4.0, 4.0));
        }
    }

    #[test]
    fn positive_samples_have_positive_intervals() {
        let interval = median_interval(&[1.0, 2.0, 90.0]).unwrap();
        assert!(interval.low > 0.0);
        let interval = mean_interval(&[1.0, 2.0, 1.0, 2.0, 900.0], &mut Random::new(1)).unwrap();
        assert!(interval.low >= 0.0);
    }

    #[test]
    fn negative_values_are_used_unchanged() {
        let interval = median_interval(&[-1.0, 0.0, 1.0]).unwrap();
        assert!((interval.low + interval.high).abs() < 1e-12);
        assert!((interval.high - 4.302_652_7 / 3.0_f64.sqrt()).abs() < 1e-6);
    }
}
