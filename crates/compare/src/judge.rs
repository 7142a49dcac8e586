//! Verdicts on compared values.

use model::{
    comparison::{Compared, Comparison, Estimate, Unit, Values, Verdict},
    run::{Better, FigureKind, Key, Unit as Measure},
};
use stats::Interval;

/// Significance level, before the correction for the number of comparisons.
const UNLIKELY: f64 = 0.05;

/// Returns true if a kind is a share: its change counts in percentage points, because a share near
/// 0 is easily doubled.
fn share(kind: FigureKind) -> bool {
    kind.unit() == Measure::Share
}

/// Compares one figure. `None` if a side has no value.
pub(crate) fn line(
    key: &Key,
    kind: FigureKind,
    unit: Unit,
    before: &[f64],
    after: &[f64],
) -> Option<Compared> {
    let part = |values: &[f64]| {
        Some(Values {
            n: values.len(),
            median: stats::median(values)?,
        })
    };
    let by_ratio = !share(kind) && before.iter().chain(after).all(|&v| v > 0.0);
    let (estimate, p) = if kind == FigureKind::Pmtu {
        certain(before, after)
    } else if by_ratio {
        let ratio = stats::ratio(after, before);
        (
            ratio.map(|r| estimate(r.value, r.interval)),
            stats::ratio_p(after, before),
        )
    } else {
        let difference = stats::difference(after, before);
        (
            difference.map(|d| estimate(d.value, d.interval)),
            stats::difference_p(after, before),
        )
    };
    Some(Compared {
        key: key.clone(),
        kind,
        better: kind.better(),
        unit,
        before: part(before)?,
        after: part(after)?,
        ratio: estimate.filter(|_| by_ratio),
        difference: estimate.filter(|_| !by_ratio),
        p: p.filter(|_| estimate.is_some()),
        p_corrected: None,
        verdict: Verdict::CannotTell,
    })
}

/// Values that chance has no part in: known if each side agrees with itself.
fn certain(before: &[f64], after: &[f64]) -> (Option<Estimate>, Option<f64>) {
    let agree = |values: &[f64]| values.windows(2).all(|pair| pair[0] == pair[1]);
    match (before.first(), after.first()) {
        (Some(b), Some(a)) if *b > 0.0 && agree(before) && agree(after) => {
            let value = a / b;
            let estimate = Estimate {
                value,
                low: value,
                high: value,
            };
            (Some(estimate), Some(f64::from(u8::from(a == b))))
        }
        _ => (None, None),
    }
}

fn estimate(value: f64, interval: Interval) -> Estimate {
    Estimate {
        value,
        low: interval.low,
        high: interval.high,
    }
}

/// Corrects the tests for their number, and gives each line its verdict.
///
/// A significant difference that is too small to be relevant is not a discovery: it enters with p =
/// 1, because many of them would make the correction (a share of the discoveries) too lenient for
/// the others.
pub(crate) fn correct(comparison: &mut Comparison) {
    let limits = (comparison.threshold, comparison.share_threshold);
    let counted = |line: &Compared| Some(if same(line, limits) { 1.0 } else { line.p? });
    let ps: Vec<f64> = comparison.lines.iter().filter_map(counted).collect();
    let mut corrected = stats::benjamini_hochberg(&ps).into_iter();
    for line in &mut comparison.lines {
        if line.p.is_some() {
            line.p_corrected = corrected.next();
        }
        line.verdict = verdict(line, limits);
    }
}

/// Returns true if the change is known and its whole interval lies within the tolerance.
fn same(line: &Compared, limits: (f64, f64)) -> bool {
    let known = line.p.and_then(|_| change(line, limits.0, limits.1));
    known.is_some_and(|(change, limits)| change.low >= limits.0 && change.high <= limits.1)
}

fn verdict(line: &Compared, limits: (f64, f64)) -> Verdict {
    if same(line, limits) {
        return Verdict::Same;
    }
    let Some((change, limits)) = change(line, limits.0, limits.1) else {
        return Verdict::CannotTell;
    };
    let Some(p) = line.p_corrected else {
        return Verdict::CannotTell;
    };
    let clear = p <= UNLIKELY && (change.low > 0.0 || change.high < 0.0);
    let matters = change.value < limits.0 || change.value > limits.1;
    // The interval is of means, the value of medians: of values in two groups these may point in
    // opposite directions.
    let agrees = (change.low > 0.0) == (change.value > 0.0);
    match (clear && matters && agrees, line.better, change.value > 0.0) {
        (true, Better::Higher, true) | (true, Better::Lower, false) => Verdict::Better,
        (true, Better::Higher, false) | (true, Better::Lower, true) => Verdict::Worse,
        _ => Verdict::CannotTell,
    }
}

/// The change, 0 = none, and the limits within which it is irrelevant. Ratios are logarithms, so
/// that half and double have the same size.
fn change(line: &Compared, threshold: f64, of_share: f64) -> Option<(Estimate, (f64, f64))> {
    if let Some(ratio) = line.ratio {
        let limit = threshold.ln_1p();
        let change = Estimate {
            value: ratio.value.ln(),
            low: ratio.low.ln(),
            high: ratio.high.ln(),
        };
        return Some((change, (-limit, limit)));
    }
    let limit = if share(line.kind) {
        of_share.max(threshold * line.before.median.max(line.after.median))
    } else {
        threshold * line.before.median.max(line.after.median)
    };
    Some((line.difference?, (-limit, limit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(value: f64, low: f64, high: f64, p: f64) -> Compared {
        let values = |median| Values { n: 20, median };
        Compared {
            key: serde_json::from_str(r#"{"step": "tcp", "layer": "underlay", "family": "v4"}"#)
                .expect("a key"),
            kind: FigureKind::Goodput,
            better: Better::Higher,
            unit: Unit::Runs,
            before: values(100.0),
            after: values(100.0 * value),
            ratio: Some(Estimate { value, low, high }),
            difference: None,
            p: Some(p),
            p_corrected: None,
            verdict: Verdict::CannotTell,
        }
    }

    /// Bug: of values in two groups the medians fell by 2.8 % while the means rose by three
    /// quarters, and the change counted as worse, with the interval of the means beside it.
    #[test]
    fn a_change_whose_interval_points_the_other_way_is_no_verdict() {
        let judged = |value| {
            let mut line = ratio(value, 1.143, 2.75, 0.015);
            line.p_corrected = Some(0.015);
            verdict(&line, (0.02, 0.02))
        };
        assert_eq!(judged(0.972), Verdict::CannotTell);
        assert_eq!(judged(1.5), Verdict::Better);
    }

    #[test]
    fn differences_that_do_not_matter_make_no_other_more_certain() {
        let doubtful = ratio(0.9, 0.82, 0.99, 0.03);
        let with = |others: Vec<Compared>| {
            let mut comparison = crate::compare(("a", &[]), ("b", &[]), &crate::Options::default());
            comparison.lines = others;
            comparison.lines.push(doubtful.clone());
            correct(&mut comparison);
            comparison.lines.pop().map(|line| line.verdict)
        };
        let tiny = ratio(1.001, 1.0005, 1.0015, 1e-9);
        let clear = ratio(0.5, 0.45, 0.55, 1e-9);
        assert_eq!(with(Vec::new()), Some(Verdict::Worse));
        assert_eq!(with(vec![tiny; 20]), Some(Verdict::CannotTell));
        // By definition of the correction: of twenty-one discoveries one may be wrong.
        assert_eq!(with(vec![clear; 20]), Some(Verdict::Worse));
    }
}
