//! High percentiles of enough values.

/// Minimum number of values for a 95th percentile: with fewer it would be the largest value.
pub const ENOUGH_95: usize = 20;
/// Fewest values of which a 99th percentile is given.
pub const ENOUGH_99: usize = 100;

/// The 95th percentile; `None` below [`ENOUGH_95`] values.
pub fn p95(values: &[f64]) -> Option<f64> {
    of(values, 95.0, ENOUGH_95)
}

/// The 99th percentile; `None` below [`ENOUGH_99`] values.
pub fn p99(values: &[f64]) -> Option<f64> {
    of(values, 99.0, ENOUGH_99)
}

fn of(values: &[f64], percent: f64, enough: usize) -> Option<f64> {
    let known = (values.len() >= enough).then(|| stats::percentile(values, percent));
    known.flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_less_than_enough_has_none() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(p95(&values[..20]).is_some() && p95(&values[..19]).is_none());
        assert!(p99(&values).is_some() && p99(&values[..99]).is_none());
    }
}
