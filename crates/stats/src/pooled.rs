//! Intervals of a few samples whose spread is taken from like sets too.
//!
//! The coverage they reach is in `docs/statistics.md`; `tests/pooled.rs` measures it.

use crate::{
    center::logarithms,
    distribution::{beta_cdf, t_quantile},
    interval::{Interval, LEVEL},
    order::{mean, standard_deviation},
};

/// Fewest degrees of freedom of a spread for an interval: with two, those of three samples alone,
/// half its width is 2.5 deviations, with four 1.6.
const FREEDOM: usize = 4;

/// The least level of a set's interval by its own spread alone. A set that scatters more than
/// those it is pooled with is therefore covered as often, however much it differs.
const OWN: f64 = 0.9;

/// A set that scatters more than all others together does not count to their spread if chance alone
/// would show it less often than this.
const ALIKE: f64 = 0.01;

/// Ratio of the ends from which an interval is not stated: it would say less than the range.
const WIDEST: f64 = 10.0;

/// An interval by a pooled spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pooled {
    /// The 95 % interval of the centre.
    pub interval: Interval,
    /// Degrees of freedom of the spread.
    pub freedom: usize,
}

/// The 95 % interval of the centre of each of some like sets of samples, whose logarithms are
/// roughly symmetric and scatter alike: Student's, by the spread of all sets together around their
/// own means, but never narrower than the 90 % interval by the spread of the set alone.
///
/// `None` for a set of fewer than two samples, or with one that is not positive; where all sets
/// together have too few samples; and where the interval would extend over more than a factor of
/// ten.
pub fn pooled(sets: &[&[f64]]) -> Vec<Option<Pooled>> {
    let parts: Vec<Option<Part>> = sets.iter().map(|set| Part::of(set)).collect();
    let loud = |at: usize| {
        let rest = Sum::of(others(&parts, at));
        parts[at].is_some_and(|part| part.sum.is_larger_than(rest))
    };
    let calm: Vec<Option<Part>> = (0..parts.len())
        .map(|at| parts[at].filter(|_| !loud(at)))
        .collect();
    let interval = |(at, part): (usize, &Option<Part>)| {
        let part = (*part)?;
        part.interval(Sum::of(others(&calm, at).chain([part.sum])))
    };
    parts.iter().enumerate().map(interval).collect()
}

/// The squares of all sets but one.
fn others(parts: &[Option<Part>], at: usize) -> impl Iterator<Item = Sum> {
    let others = parts.iter().enumerate().filter(move |(i, _)| *i != at);
    others.filter_map(|(_, part)| part.map(|part| part.sum))
}

/// Squared deviations from their means.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    squares: f64,
    freedom: usize,
}

impl Sum {
    fn of(sums: impl Iterator<Item = Self>) -> Self {
        sums.fold(Self::default(), |all, one| Self {
            squares: all.squares + one.squares,
            freedom: all.freedom + one.freedom,
        })
    }

    fn variance(self) -> f64 {
        self.squares / self.freedom as f64
    }

    /// Fisher's test of two variances, one-sided. Without others nothing is larger.
    fn is_larger_than(self, rest: Self) -> bool {
        if rest.freedom == 0 || self.variance() <= rest.variance() {
            return false;
        }
        let (d, r) = (self.freedom as f64, rest.freedom as f64);
        let part = rest.squares / (rest.squares + self.squares);
        beta_cdf(part, r / 2.0, d / 2.0) < ALIKE
    }
}

/// The logarithms of a set.
#[derive(Clone, Copy, Debug)]
struct Part {
    n: usize,
    center: f64,
    sum: Sum,
}

impl Part {
    fn of(set: &[f64]) -> Option<Self> {
        let logs = logarithms(set)?;
        let freedom = logs.len().checked_sub(1)?;
        let variance = standard_deviation(&logs)?.powi(2);
        Some(Self {
            n: logs.len(),
            center: mean(&logs)?,
            sum: Sum {
                squares: variance * freedom as f64,
                freedom,
            },
        })
        .filter(|part| part.center.is_finite() && part.sum.squares.is_finite())
    }

    fn interval(self, pool: Sum) -> Option<Pooled> {
        if pool.freedom < FREEDOM {
            return None;
        }
        let half = |sum: Sum, level: f64| {
            t_quantile(f64::midpoint(1.0, level), sum.freedom as f64)
                * (sum.variance() / self.n as f64).sqrt()
        };
        let half = half(pool, LEVEL).max(half(self.sum, OWN));
        let interval = Interval {
            low: self.center - half,
            high: self.center + half,
        };
        (2.0 * half <= WIDEST.ln()).then(|| Pooled {
            interval: interval.exp(),
            freedom: pool.freedom,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_students_by_the_spread_of_all() {
        // Logarithms: deviations 0.1 and 0.2, together 0.1581; t of four degrees is 2.7764.
        let logs = [[-0.1, 0.0, 0.1], [1.8, 2.0, 2.2]];
        let sets = logs.map(|set| set.map(f64::exp));
        let both = pooled(&[&sets[0], &sets[1]]);
        let first = both[0].unwrap();
        let half = 2.776_445_105 * (0.025_f64 / 3.0).sqrt();
        assert!((first.interval.high.ln() - half).abs() < 1e-9, "{first:?}");
        assert!((first.interval.low.ln() + half).abs() < 1e-9, "{first:?}");
        assert_eq!(first.freedom, 4);
        assert!(both[1].is_some());
    }

    #[test]
    fn three_samples_alone_have_no_interval() {
        assert_eq!(pooled(&[&[1.0, 1.1, 1.2]]), [None]);
        assert_eq!(pooled(&[&[1.0, 1.1, 1.2], &[5.0]]), [None, None]);
        assert_eq!(pooled(&[&[1.0, 1.1, 1.2], &[0.0, 1.0, 1.1]]), [None, None]);
        assert_eq!(pooled(&[]), []);
    }

    /// Beside BBR, which varied by 0.01 %, cubic varied by 3 %: neither says how the other
    /// scatters.
    #[test]
    fn a_scattering_set_does_not_widen_the_interval_of_calm_ones() {
        let calm = [100.0, 100.01, 99.99];
        let cubic = [90.0, 97.0, 94.0];
        let two = pooled(&[&calm, &cubic]);
        assert_eq!(two[0], None);
        let three = pooled(&[&calm, &[50.0, 50.01, 50.005], &cubic]);
        let interval = three[0].unwrap().interval;
        assert!(interval.half_width() < 0.1, "{interval:?}");
        // Its own interval of 90 %, not one by calm neighbours.
        let own = three[2].unwrap().interval;
        let half = 2.919_985_58 * standard_deviation(&cubic.map(f64::ln)).unwrap() / 3f64.sqrt();
        assert!(
            (own.high.ln() - own.low.ln() - 2.0 * half).abs() < 1e-6,
            "{own:?}"
        );
    }

    #[test]
    fn sets_that_agree_have_a_point() {
        for one in pooled(&[&[4.0; 3], &[2.0; 3]]) {
            let interval = one.unwrap().interval;
            assert!(interval.half_width() < 1e-12, "{interval:?}");
        }
    }
}
