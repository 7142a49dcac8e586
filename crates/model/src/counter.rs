//! Growth of counters, which only count up, between readings.

/// Readings of a counter of 32 bits.
const WRAPS: u64 = 1 << 32;

/// Growth of a counter from one reading to a later one; `None` if it decreased: then it was reset,
/// or belongs to another object.
pub fn growth(before: u64, after: u64) -> Option<u64> {
    after.checked_sub(before)
}

/// Growth of a counter of one object, which is never reset: one that decreased is of 32 bits, and
/// started again at 0 after its largest value.
pub fn growth_of_one(before: u64, after: u64) -> u64 {
    growth(before, after).unwrap_or_else(|| (after + WRAPS).saturating_sub(before))
}

/// Growth of a counter of one object at each reading, since the first one.
pub fn grown(readings: &[(i64, u64)]) -> Vec<(i64, f64)> {
    let (mut sum, mut last) = (0.0, None);
    let since_first = |&(at_us, now): &(i64, u64)| {
        sum += last.map_or(0.0, |before| growth_of_one(before, now) as f64);
        last = Some(now);
        (at_us, sum)
    };
    readings.iter().map(since_first).collect()
}

/// Value at a time, on the straight line between two readings; the first or the last one outside
/// of them. `None` without readings.
pub fn at(readings: &[(i64, f64)], at_us: i64) -> Option<f64> {
    let after = readings.partition_point(|(at, _)| *at <= at_us);
    let Some(&(from_us, from)) = after.checked_sub(1).and_then(|i| readings.get(i)) else {
        return readings.first().map(|(_, value)| *value);
    };
    let Some(&(to_us, to)) = readings.get(after) else {
        return Some(from);
    };
    let part = (at_us - from_us) as f64 / (to_us - from_us).max(1) as f64;
    Some(from + (to - from) * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_decreased_was_reset_or_wrapped() {
        assert_eq!((growth(3, 10), growth(10, 3)), (Some(7), None));
        assert_eq!(growth_of_one(4_294_967_290, 4), 10);
        assert_eq!(growth_of_one(u64::MAX, 4), 0, "no counter of 32 bits");
    }

    /// Between the readings around a wrap, the value went down by 2^32.
    #[test]
    fn a_wrap_between_two_readings_does_not_bend_the_line() {
        let grown = grown(&[(0, 4_294_967_286), (10, 4_294_967_296 - 6), (20, 4)]);
        assert_eq!(grown, [(0, 0.0), (10, 4.0), (20, 14.0)]);
        assert_eq!(at(&grown, 15), Some(9.0));
        assert_eq!((at(&grown, -5), at(&grown, 25)), (Some(0.0), Some(14.0)));
        assert_eq!(at(&[], 1), None);
    }
}
