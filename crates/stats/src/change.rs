//! Change points in a series of runs.

use crate::{
    distribution::normal_cdf,
    order::median,
    ranks::{exact_lower_tail, midranks},
};

/// A lasting change of the level of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first value of the new level, by the best estimate.
    pub at: usize,
    /// Index of the value that made it certain.
    pub found: usize,
    /// Median before: since the change before this one.
    pub before: f64,
    /// Median after: until the next change, or the end.
    pub after: f64,
    /// The chance of such a difference between the two sides of this one split without a change.
    pub p: f64,
}

/// Fewest values on the near and on the far side of a change.
const FEWEST: (usize, usize) = (8, 4);
/// The most recent values that are tested, and the longest far side.
const WINDOW: usize = 120;
const LONGEST_FAR: usize = 30;

/// Returns the significance level of a split with this many values on the far side. A series is
/// tested after every new value, with up to 27 splits each time, and fewer than one of 20 series of
/// 100 values without a change may alarm. This error budget is spent on early detection: ranks of
/// five against fifteen cannot give less than 1.3e-4, so with equal levels all five values would
/// have to be beyond all others. Longer far sides share the rest, and need little of it
/// (`tests/change.rs`).
fn certain(far: usize) -> f64 {
    match far {
        ..=4 => 1.6e-4,
        5 => 4e-4,
        6..=8 => 8e-5,
        _ => 3e-5,
    }
}

/// No split has a level above this.
const MAX_CERTAIN: f64 = 4e-4;

/// The changes in a series, as they would have been found by a test after each value: later
/// values never undo a change, so a watch and a later analysis agree.
///
/// Each test takes the latest values since the last change: is there a split so that those after it
/// rank above or below those before, by Mann and Whitney's test? Ranks make it robust against
/// outliers and skew: a single outlier is never a change, however large.
pub fn changes(values: &[f64]) -> Vec<Change> {
    let mut found: Vec<Change> = Vec::new();
    let mut start = 0;
    for end in 1..=values.len() {
        let from = start.max(end.saturating_sub(WINDOW));
        if let Some((at, p)) = split(&values[from..end]) {
            found.push(Change {
                at: from + at,
                found: end - 1,
                before: 0.0,
                after: 0.0,
                p,
            });
            start = from + at;
        }
    }
    level(&mut found, values);
    found
}

/// Fills in the medians between changes.
fn level(changes: &mut [Change], values: &[f64]) {
    for i in 0..changes.len() {
        let from = if i == 0 { 0 } else { changes[i - 1].at };
        let to = changes.get(i + 1).map_or(values.len(), |next| next.at);
        let at = changes[i].at;
        changes[i].before = median(&values[from..at]).unwrap_or(f64::NAN);
        changes[i].after = median(&values[at..to]).unwrap_or(f64::NAN);
    }
}

/// The split of a window with the least chance, if that is certain.
fn split(window: &[f64]) -> Option<(usize, f64)> {
    let n = window.len();
    if n < FEWEST.0 + FEWEST.1 {
        return None;
    }
    let (ranks, ties) = midranks(window);
    let mut best: Option<(usize, f64)> = None;
    let mut sum = 0.0;
    for far in 1..=LONGEST_FAR.min(n - FEWEST.0) {
        sum += ranks[n - far];
        if far < FEWEST.1 {
            continue;
        }
        let p = chance(sum, far, n, ties);
        if p <= certain(far) && best.is_none_or(|(_, least)| p < least) {
            best = Some((n - far, p));
        }
    }
    best
}

/// The two-sided p-value of a rank sum of the last `far` of `n` values: by the normal approximation
/// if that is far from significant, otherwise exact.
fn chance(sum: f64, far: usize, n: usize, ties: f64) -> f64 {
    let near = n - far;
    let u = sum - (far * (far + 1)) as f64 / 2.0;
    let pairs = (far * near) as f64;
    let least = u.min(pairs - u);
    let all = n as f64;
    let variance = pairs / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let rough = 2.0 * normal_cdf((least - pairs / 2.0) / variance.sqrt());
    // The tails of U are lighter than the normal's: a p of 1e-3 by the one may be 1e-6 counted.
    if rough > 200.0 * MAX_CERTAIN {
        return rough;
    }
    exact_lower_tail(least, far, near).map_or(rough, |tail| (2.0 * tail).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that go up and down a little around a level, one wild one among them.
    fn around(level: f64, n: usize) -> Vec<f64> {
        (0..n)
            .map(|i| level + [0.0, 0.3, -0.2, 0.5, -0.4, 0.1, -0.3][i % 7] + i as f64 * 1e-4)
            .collect()
    }

    #[test]
    fn two_steps_are_found_where_they_are() {
        let series = [around(100.0, 30), around(95.0, 30), around(98.0, 30)].concat();
        let found = changes(&series);
        assert_eq!(found.iter().map(|c| c.at).collect::<Vec<_>>(), [30, 60]);
        assert!(found.iter().all(|c| c.found < c.at + 5), "{found:?}");
        assert!((found[0].before - 100.0).abs() < 0.5 && (found[0].after - 95.0).abs() < 0.5);
        assert!((found[1].before - 95.0).abs() < 0.5 && (found[1].after - 98.0).abs() < 0.5);
    }

    #[test]
    fn a_single_outlier_is_not_a_change() {
        let mut series = around(100.0, 60);
        series[40] = 3.0;
        series[41] = 900.0;
        assert_eq!(changes(&series), []);
    }

    #[test]
    fn tests_after_each_value_and_one_of_all_agree() {
        let series = [around(100.0, 30), around(95.0, 30)].concat();
        let back = changes(&series);
        for end in 1..series.len() {
            let then = changes(&series[..end]);
            let known = back.iter().filter(|c| c.found < end).count();
            assert_eq!(then.len(), known);
        }
    }

    #[test]
    fn equal_and_few_values_have_no_change() {
        assert_eq!(changes(&[5.0; 200]), []);
        assert_eq!(changes(&[1.0, 2.0, 3.0, 40.0, 50.0, 60.0]), []);
        assert_eq!(changes(&[]), []);
    }
}
