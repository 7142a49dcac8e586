//! Time series in equal buckets of time.

/// Values of the buckets; `None` without samples.
pub type Column = Vec<Option<f64>>;

/// Minimum number of buckets.
const MIN_BUCKETS: usize = 24;

/// Equal buckets over the time of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Start of the first bucket, µs after the load started.
    pub from_us: i64,
    /// Length of a bucket, µs.
    pub dt_us: i64,
    count: usize,
}

impl Grid {
    /// At most `most` buckets, each a multiple of the sampling interval, so that no bucket is
    /// empty.
    pub(crate) fn over(from_us: i64, to_us: i64, most: usize, sample_us: i64) -> Self {
        let sample_us = sample_us.max(1);
        let span = (to_us - from_us).max(sample_us);
        let most = i64::try_from(most.max(MIN_BUCKETS)).unwrap_or(i64::MAX);
        let count = span.div_euclid(most.saturating_mul(sample_us)) + 1;
        let dt_us = count * sample_us;
        Self {
            from_us,
            dt_us,
            count: usize::try_from(span / dt_us).unwrap_or(0) + 1,
        }
    }

    fn place(self, at_us: i64) -> Option<usize> {
        let place = usize::try_from((at_us - self.from_us).checked_div(self.dt_us)?).ok()?;
        (at_us >= self.from_us && place < self.count).then_some(place)
    }

    /// The end of a bucket.
    fn end_us(self, place: usize) -> i64 {
        self.from_us + self.dt_us * (place as i64 + 1)
    }

    /// The values in each bucket combined by a function; buckets without values stay empty.
    pub(crate) fn fold(self, points: &[(i64, f64)], together: impl Fn(f64, f64) -> f64) -> Column {
        let mut column: Column = vec![None; self.count];
        for &(at, value) in points {
            if let Some(place) = self.place(at) {
                let slot = &mut column[place];
                *slot = Some(slot.map_or(value, |old| together(old, value)));
            }
        }
        column
    }

    /// The median of the values in each bucket.
    pub(crate) fn medians(self, points: &[(i64, f64)]) -> Column {
        let mut buckets: Vec<Vec<f64>> = vec![Vec::new(); self.count];
        for &(at, value) in points {
            if let Some(place) = self.place(at) {
                buckets[place].push(value);
            }
        }
        buckets.iter().map(|all| stats::median(all)).collect()
    }

    /// Growth of a counter in each bucket, from its growth since the first reading; `value` gives
    /// that at a time.
    pub(crate) fn growth(self, grown: &[(i64, f64)], value: Value) -> Column {
        let (Some(first), Some(last)) = (grown.first(), grown.last()) else {
            return vec![None; self.count];
        };
        let (first, last) = (first.0, last.0);
        let in_bucket = |place| {
            let to = self.end_us(place);
            let from = to - self.dt_us;
            let seen = from < last && to > first;
            seen.then(|| Some(value(grown, to)? - value(grown, from)?))?
        };
        (0..self.count).map(in_bucket).collect()
    }
}

/// Value of a counter at a time: on a straight line for bytes ([`model::counter::at`]), in steps
/// for events ([`stepped`]).
pub(crate) type Value = fn(&[(i64, f64)], i64) -> Option<f64>;

/// Step function, for counters of events: an event belongs to the sample that saw it.
pub(crate) fn stepped(grown: &[(i64, f64)], at_us: i64) -> Option<f64> {
    let after = grown.partition_point(|(t, _)| *t <= at_us);
    grown.get(after.saturating_sub(1)).map(|point| point.1)
}

/// Sum of columns; missing values count as 0, values missing in all columns stay absent.
pub(crate) fn sum(columns: impl Iterator<Item = Column>) -> Column {
    columns
        .reduce(|a, b| {
            let both = a.into_iter().zip(b);
            both.map(|pair| match pair {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            })
            .collect()
        })
        .unwrap_or_default()
}

/// Mean of the present values.
pub(crate) fn mean(columns: impl Iterator<Item = Column>) -> Column {
    let columns: Vec<Column> = columns.collect();
    let places = columns.first().map_or(0, Vec::len);
    (0..places)
        .map(|place| {
            let values: Vec<f64> = columns.iter().filter_map(|c| c[place]).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use model::counter;

    use super::*;

    #[test]
    fn the_sum_of_all_buckets_is_the_counters_increase() {
        let points: Vec<(i64, f64)> = (0..=250)
            .map(|i| (i * 10_000 + 3, 7.0 * (i * i) as f64))
            .collect();
        for most in [24, 30, 250] {
            let grid = Grid::over(points[0].0, points[250].0, most, 10_000);
            assert!(grid.count <= most + 1);
            for value in [counter::at as Value, stepped] {
                let all: f64 = grid.growth(&points, value).into_iter().flatten().sum();
                assert!((all - 7.0 * 250.0 * 250.0).abs() < 1e-6, "{all}");
            }
        }
    }

    #[test]
    fn the_slowest_probe_of_a_bucket_is_kept() {
        let mut points: Vec<(i64, f64)> = (0..1000).map(|i| (i * 10_000, 24.0)).collect();
        points[517].1 = 900.0;
        let grid = Grid::over(0, 9_990_000, 50, 10_000);
        let slowest = grid.fold(&points, f64::max);
        assert_eq!(slowest.iter().flatten().copied().fold(0.0, f64::max), 900.0);
        assert_eq!(slowest.iter().flatten().filter(|v| **v > 24.0).count(), 1);
    }

    #[test]
    fn one_slow_probe_of_a_bucket_does_not_move_its_median() {
        let mut points: Vec<(i64, f64)> = (0..1000).map(|i| (i * 10_000, 24.0)).collect();
        points[517].1 = 900.0;
        let grid = Grid::over(0, 9_990_000, 50, 10_000);
        let medians = grid.medians(&points);
        assert!(medians.len() <= 50 && medians.iter().all(|v| *v == Some(24.0)));
    }

    #[test]
    fn sparse_samples_leave_no_bucket_empty() {
        // Samples may be late, never early.
        let points: Vec<(i64, f64)> = (0..200).map(|i| (i * 50_000 + i % 7, 1.0)).collect();
        let grid = Grid::over(0, 9_950_001, 400, 50_000);
        let column = grid.fold(&points, |_, last| last);
        assert!(column.iter().all(Option::is_some), "{column:?}");
    }

    #[test]
    fn a_bucket_without_samples_is_empty_and_not_zero() {
        let grid = Grid::over(0, 1_000_000, 100, 10_000);
        let column = grid.fold(&[(0, 5.0), (900_000, 6.0)], |_, last| last);
        assert_eq!(column.iter().flatten().count(), 2);
    }
}
