//! Coverage of intervals by a pooled spread, for three samples of each of some like steps.
//!
//! The table is that of docs/statistics.md.

mod common;

use common::*;
use stats::{Interval, Random, pooled, standard_deviation};

/// Like steps.
const STEPS: [usize; 5] = [2, 3, 4, 6, 8];
const ROUNDS: u64 = 2000;

/// Three samples of each step. The first scatters by its own factor.
type Draw = fn(bool, &mut Random) -> f64;

struct Case {
    name: &'static str,
    draw: Draw,
    /// Median of all steps.
    median: f64,
    /// Coverage that it must have, %.
    covers: std::ops::RangeInclusive<f64>,
}

/// Coverage of the stated intervals of the first step and of another one, %.
fn covers(case: &Case, steps: usize) -> [f64; 2] {
    let (mut held, mut stated) = ([0, 0], [0, 0]);
    for seed in 0..ROUNDS {
        let mut random = Random::new(seed * 1_000_003 + 17);
        let step = |step: usize| -> Vec<f64> {
            (0..3)
                .map(|_| (case.draw)(step == 0, &mut random))
                .collect()
        };
        let sets: Vec<Vec<f64>> = (0..steps).map(step).collect();
        let sets: Vec<&[f64]> = sets.iter().map(Vec::as_slice).collect();
        let found = pooled(&sets);
        for at in [0, 1] {
            if let Some(found) = found[at] {
                stated[at] += 1;
                held[at] += u32::from(found.interval.covers(case.median));
            }
        }
    }
    [0, 1].map(|at| 100.0 * f64::from(held[at]) / f64::from(stated[at]))
}

#[test]
fn intervals_by_a_pooled_spread_hold() {
    let head: Vec<String> = std::iter::once("pooled, n = 3".to_owned())
        .chain(STEPS.iter().map(|steps| format!("{steps} steps")))
        .collect();
    let mut table = Table::new(&head);
    let cases = [
        Case {
            name: "normal",
            draw: |_, r| 100.0 + 5.0 * normal(r),
            median: 100.0,
            covers: 93.0..=98.5,
        },
        Case {
            name: "lognormal, σ = 0.2",
            draw: |_, r| (0.2 * normal(r)).exp(),
            median: 1.0,
            covers: 93.0..=98.5,
        },
        Case {
            name: "1 + exponential",
            draw: |_, r| 1.0 + exponential(r),
            median: EXPONENTIAL.median,
            covers: 91.5..=98.5,
        },
        Case {
            name: "dips",
            draw: |_, r| (DIPS.draw)(r),
            median: DIPS.median,
            covers: 93.0..=100.0,
        },
        Case {
            name: "one step with three times the spread of the others",
            draw: |first, r| (if first { 0.15 } else { 0.05 } * normal(r)).exp(),
            median: 1.0,
            covers: 88.0..=98.5,
        },
        Case {
            name: "one step with thirty times the spread of the others",
            draw: |first, r| (if first { 0.15 } else { 0.005 } * normal(r)).exp(),
            median: 1.0,
            covers: 88.0..=98.5,
        },
    ];
    for case in &cases {
        let both = STEPS.map(|steps| covers(case, steps));
        let first = both.map(|both| both[0]);
        table.add(case.name, &first);
        let name = case.name;
        assert!(
            first.iter().all(|c| case.covers.contains(c)),
            "{name}: {both:?}"
        );
        // The neighbours of a step that scatters more are in no case called too precise.
        assert!(both.iter().all(|both| both[1] >= 91.5), "{name}: {both:?}");
    }
    table.is_in_the_docs("pooled");
}

/// With five per cent of normal noise the interval by the pooled spread of four steps is narrower
/// than Student's of the three samples alone.
#[test]
fn a_pooled_spread_makes_an_interval_of_three_samples_narrower() {
    let mut widths = [0.0, 0.0];
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let sets: [Vec<f64>; 4] = std::array::from_fn(|_| NORMAL.samples(3, &mut random));
        let all: Vec<&[f64]> = sets.iter().map(Vec::as_slice).collect();
        widths[0] += pooled(&all)[0].unwrap().interval.half_width();
        widths[1] += stats::median_interval(&sets[0]).unwrap().half_width();
    }
    assert!(widths[0] < 0.8 * widths[1], "{widths:?}");
}

/// On a line of 100 Mbit/s three samples gave `22.4 [0.15, 2560]`, and a ratio in a headline tile
/// was `0.471 [0.006, 84]`.
#[test]
fn three_samples_that_scatter_by_factors_have_no_interval() {
    let three = |center: f64, end: f64| {
        // Student's interval of 95 % is 2.484 deviations wide on each side.
        let deviation: f64 = (center / end).ln() / 2.484;
        [-1.0, 0.0, 1.0].map(|x| center * (x * deviation).exp())
    };
    for (center, end) in [(22.4, 0.15), (0.471, 0.006)] {
        let seen = three(center, end);
        let student = stats::median_interval(&seen).unwrap();
        let near = Interval {
            low: 0.98 * end,
            high: 1.02 * end,
        };
        assert!(near.covers(student.low), "{student:?}");
        for neighbours in [[20.0, 22.0, 25.0], seen] {
            for others in 1..8 {
                let mut sets = vec![&seen[..]];
                sets.extend(std::iter::repeat_n(&neighbours[..], others));
                assert_eq!(pooled(&sets)[0], None, "{others} like {neighbours:?}");
            }
        }
    }
}

/// However the spreads of steps are, no interval extends over more than a factor of ten, and none
/// is by fewer than four degrees of freedom.
#[test]
fn no_interval_extends_over_more_than_a_factor_of_ten() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let spreads: Vec<f64> = (0..2 + seed % 5).map(|_| 2.0 * random.unit()).collect();
        let sets: Vec<Vec<f64>> = spreads
            .iter()
            .map(|spread| {
                (0..3)
                    .map(|_| (spread * normal(&mut random)).exp())
                    .collect()
            })
            .collect();
        let all: Vec<&[f64]> = sets.iter().map(Vec::as_slice).collect();
        for (set, found) in sets.iter().zip(pooled(&all)) {
            let Some(found) = found else { continue };
            assert!(found.freedom >= 4, "{found:?}");
            assert!(
                found.interval.high <= 10.001 * found.interval.low,
                "{found:?}"
            );
            let log = |v: f64| v.ln();
            let deviation = standard_deviation(&set.iter().map(|v| log(*v)).collect::<Vec<_>>());
            let own = 2.91 * deviation.unwrap() / 3.0_f64.sqrt();
            let half = 0.5 * (log(found.interval.high) - log(found.interval.low));
            assert!(
                half >= own,
                "narrower than by its own spread: {set:?} {found:?}"
            );
        }
    }
}
