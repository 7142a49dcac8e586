//! Percentiles, means and a straight line.

/// The `p`-th percentile (0 to 100) with linear interpolation between neighbours (type 7 of
/// Hyndman and Fan 1996, the default of R and NumPy); `None` without samples.
///
/// Samples need not be sorted; NaN sorts last.
pub fn percentile(samples: &[f64], p: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = (p / 100.0).clamp(0.0, 1.0) * last as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    Some(low + (high - low) * at.fract())
}

/// The 50th percentile.
pub fn median(samples: &[f64]) -> Option<f64> {
    percentile(samples, 50.0)
}

/// The median deviation from the median, times 1.4826: for a normal distribution its standard
/// deviation, and not moved by outliers (Hampel 1974). `None` without samples.
pub fn median_deviation(samples: &[f64]) -> Option<f64> {
    let middle = median(samples)?;
    let deviations: Vec<f64> = samples.iter().map(|value| (value - middle).abs()).collect();
    Some(1.4826 * median(&deviations)?)
}

/// The arithmetic mean; `None` without samples.
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// The sample standard deviation (n - 1); `None` with fewer than two samples.
pub fn standard_deviation(samples: &[f64]) -> Option<f64> {
    let mean = mean(samples)?;
    let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
    (samples.len() > 1).then(|| (squares / (samples.len() - 1) as f64).sqrt())
}

/// The slope of the least-squares line through points; `None` if all x are equal.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let xs: Vec<f64> = points.iter().map(|p| p.0).collect();
    let ys: Vec<f64> = points.iter().map(|p| p.1).collect();
    let (mx, my) = (mean(&xs)?, mean(&ys)?);
    let down: f64 = xs.iter().map(|x| (x - mx).powi(2)).sum();
    let up: f64 = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    (down > 0.0).then(|| up / down)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate_as_r_does() {
        // R: quantile(c(1, 2, 3, 4, 10), c(0, .25, .5, .9, 1))
        let x = [10.0, 1.0, 3.0, 2.0, 4.0];
        for (p, expected) in [
            (0.0, 1.0),
            (25.0, 2.0),
            (50.0, 3.0),
            (90.0, 7.6),
            (100.0, 10.0),
        ] {
            assert!((percentile(&x, p).unwrap() - expected).abs() < 1e-12, "{p}");
        }
        assert_eq!(percentile(&[], 50.0), None);
        assert_eq!(percentile(&[7.0], 99.0), Some(7.0));
    }

    #[test]
    fn deviation_divides_by_n_minus_one() {
        // R: sd(c(2, 4, 4, 4, 5, 5, 7, 9))
        let sd = standard_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((sd - 2.138_089_935_299_395).abs() < 1e-12);
    }

    #[test]
    fn slope_of_a_line_is_its_slope() {
        let points: Vec<_> = (0..9)
            .map(|x| (f64::from(x), 3.0 - 0.75 * f64::from(x)))
            .collect();
        assert!((slope(&points).unwrap() + 0.75).abs() < 1e-12);
        assert_eq!(slope(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }
}
