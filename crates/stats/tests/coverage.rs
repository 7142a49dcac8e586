//! Coverage of intervals: they contain the truth at least 92 % and at most 98 % of the time. With
//! ties an interval may cover more often, since its ends belong to it.
//!
//! The tables are those of docs/statistics.md.

mod common;

use common::*;
use stats::{Interval, Random, StopRule, mean_interval, median, median_interval, percentile};

const NS: [usize; 6] = [3, 5, 8, 12, 20, 30];
const SOURCES: [Source; 5] = [NORMAL, LOGNORMAL, EXPONENTIAL, DIPS, TIES];
const ROUNDS: u64 = 2000;

fn head(first: &str, ns: &[usize]) -> Vec<String> {
    std::iter::once(first.to_owned())
        .chain(ns.iter().map(|n| format!("n = {n}")))
        .collect()
}

fn check(name: &str, covers: &[f64]) {
    let most = if name.contains("ties") { 100.0 } else { 98.5 };
    assert!(
        covers.iter().all(|c| (91.5..=most).contains(c)),
        "{name}: {covers:?}"
    );
}

/// The percentile bootstrap of the median, for comparison: the method used before.
fn percentile_bootstrap(samples: &[f64], random: &mut Random) -> Option<Interval> {
    let mut drawn = vec![0.0; samples.len()];
    let medians: Vec<f64> = (0..400)
        .filter_map(|_| {
            drawn.fill_with(|| samples[random.below(samples.len())]);
            median(&drawn)
        })
        .collect();
    Some(Interval {
        low: percentile(&medians, 2.5)?,
        high: percentile(&medians, 97.5)?,
    })
}

#[test]
fn intervals_of_the_median_hold() {
    let mut table = Table::new(&head("median", &NS));
    for source in SOURCES {
        let covers = NS.map(|n| {
            coverage(ROUNDS, |random| {
                median_interval(&source.samples(n, random))
                    .unwrap()
                    .covers(source.median)
            })
        });
        table.add(source.name, &covers);
        check(source.name, &covers);
    }
    let covers = NS.map(|n| {
        coverage(ROUNDS / 2, |random| {
            let samples = EXPONENTIAL.samples(n, random);
            percentile_bootstrap(&samples, random)
                .unwrap()
                .covers(EXPONENTIAL.median)
        })
    });
    table.add("percentile bootstrap, 1 + exponential", &covers);
    table.is_in_the_docs("median");
}

#[test]
fn intervals_of_the_mean_hold() {
    let ns = [5, 8, 12, 20, 30];
    let mut table = Table::new(&head("mean", &ns));
    for source in [NORMAL, LOGNORMAL, EXPONENTIAL, TIES] {
        let covers = ns.map(|n| {
            coverage(ROUNDS / 2, |random| {
                let samples = source.samples(n, random);
                mean_interval(&samples, random).unwrap().covers(source.mean)
            })
        });
        table.add(source.name, &covers);
        check(source.name, &covers);
    }
    table.is_in_the_docs("mean");
}

#[test]
fn intervals_of_a_ratio_hold() {
    let sizes = [(3, 3), (5, 5), (8, 8), (5, 20), (20, 5), (12, 12), (30, 30)];
    let head: Vec<String> = std::iter::once("ratio".to_owned())
        .chain(sizes.iter().map(|(n, m)| format!("{n} and {m}")))
        .collect();
    let mut table = Table::new(&head);
    for (above, below) in [
        (NORMAL, NORMAL),
        (NORMAL, NARROW),
        (LOGNORMAL, LOGNORMAL),
        (EXPONENTIAL, EXPONENTIAL),
        (EXPONENTIAL, NARROW),
        (DIPS, NARROW),
        (TIES, TIES),
    ] {
        let name = format!("{} / {}", above.name, below.name);
        let truth = above.median / below.median;
        let covers = sizes.map(|(n, m)| {
            coverage(ROUNDS, |random| {
                let (a, b) = (above.samples(n, random), below.samples(m, random));
                stats::ratio(&a, &b).unwrap().interval.covers(truth)
            })
        });
        table.add(&name, &covers);
        // Dips are so rare that most sets of five have none, or one that widens the interval.
        let most = if name.contains("ties") || name.contains("dips") {
            100.0
        } else {
            98.5
        };
        assert!(
            covers.iter().all(|c| (91.5..=most).contains(c)),
            "{name}: {covers:?}"
        );
    }
    table.is_in_the_docs("ratio");
}

#[test]
fn one_run_against_many_of_the_same_spread_is_judged_right() {
    for source in [NORMAL, LOGNORMAL, EXPONENTIAL] {
        for (n, m) in [(1, 5), (1, 20), (2, 8)] {
            let covers = coverage(ROUNDS, |random| {
                let (a, b) = (source.samples(n, random), source.samples(m, random));
                stats::ratio(&a, &b).unwrap().interval.covers(1.0)
            });
            assert!(
                (92.0..=98.0).contains(&covers),
                "{} {n} {m}: {covers}",
                source.name
            );
        }
    }
}

#[test]
fn intervals_of_a_paired_ratio_hold() {
    let mut table = Table::new(&head("paired ratio", &NS));
    for source in [NORMAL, LOGNORMAL, EXPONENTIAL, TIES] {
        let covers = NS.map(|n| {
            coverage(ROUNDS, |random| {
                // Each block has a separate level, which moves both.
                let ratios: Vec<f64> = (0..n)
                    .map(|_| {
                        let level = (0.5 * normal(random)).exp();
                        let tunnel = 0.8 * level * (source.draw)(random);
                        tunnel / (level * (source.draw)(random))
                    })
                    .collect();
                stats::paired_ratio(&ratios).unwrap().interval.covers(0.8)
            })
        });
        table.add(source.name, &covers);
        check(source.name, &covers);
    }
    table.is_in_the_docs("paired");
}

/// Generator of numbers with median 1 and a given spread.
type Spread = fn(f64, &mut Random) -> f64;

#[test]
fn intervals_hold_when_repeats_stop_early() {
    let spreads = [0.02, 0.04, 0.08, 0.12, 0.2];
    let head: Vec<String> = std::iter::once("stopped early, spread".to_owned())
        .chain(spreads.iter().map(|s| format!("{:.0} %", 100.0 * s)))
        .collect();
    let mut table = Table::new(&head);
    let rule = StopRule {
        least: 5,
        most: 20,
        relative_half_width: 0.05,
    };
    let shapes: [(&str, Spread); 2] = [
        ("lognormal", |spread, r| (spread * normal(r)).exp()),
        ("exponential", |spread, r| {
            1.0 + spread * (exponential(r) - std::f64::consts::LN_2)
        }),
    ];
    for (name, draw) in shapes {
        let covers = spreads.map(|spread| {
            coverage(ROUNDS, |random| {
                let mut samples = Vec::new();
                while rule.check(&samples) == stats::Stop::More {
                    samples.push(draw(spread, random));
                }
                StopRule::interval(&samples).unwrap().covers(1.0)
            })
        });
        table.add(name, &covers);
        check(name, &covers);
    }
    table.is_in_the_docs("stop");
}

/// Packets lost by a chain that is in a burst or not (Gilbert 1960), counted in pieces.
fn bursts(
    random: &mut Random,
    share: f64,
    burst: f64,
    pieces: usize,
    each: u64,
) -> Vec<(u64, u64)> {
    let leave = 1.0 / burst;
    let enter = share * leave / (1.0 - share);
    let mut bad = random.unit() < share;
    (0..pieces)
        .map(|_| {
            let mut lost = 0;
            for _ in 0..each {
                lost += u64::from(bad);
                bad = if bad {
                    random.unit() >= leave
                } else {
                    random.unit() < enter
                };
            }
            (lost, each)
        })
        .collect()
}

#[test]
fn intervals_of_a_loss_share_hold_with_bursts() {
    let head = ["loss", "Wilson", "Clopper-Pearson", "in pieces"].map(str::to_owned);
    let mut table = Table::new(&head);
    for (share, burst) in [
        (0.001, 1.0),
        (0.01, 1.0),
        (0.01, 5.0),
        (0.02, 20.0),
        (0.05, 50.0),
    ] {
        let name = format!("{} %, bursts of {burst}", 100.0 * share);
        let covers = [0, 1, 2].map(|method| {
            coverage(500, |random| {
                let pieces = bursts(random, share, burst, 20, 500);
                let (lost, n) = pieces.iter().fold((0, 0), |s, p| (s.0 + p.0, s.1 + p.1));
                let interval = match method {
                    0 => stats::wilson(lost, n),
                    1 => stats::clopper_pearson(lost, n),
                    _ => stats::clustered(&pieces),
                };
                interval.unwrap().covers(share)
            })
        });
        table.add(&name, &covers);
        assert!((91.5..=100.0).contains(&covers[2]), "{name}: {covers:?}");
        if burst == 1.0 {
            assert!(
                covers[..2].iter().all(|c| (91.5..=99.0).contains(c)),
                "{name}: {covers:?}"
            );
        }
    }
    table.is_in_the_docs("loss");
}

#[test]
fn intervals_of_percentiles_hold() {
    for (p, n) in [(50.0, 40), (95.0, 100), (95.0, 1000), (99.0, 1000)] {
        let truth = 1.0 - (1.0 - p / 100.0_f64).ln();
        let covers = coverage(ROUNDS, |random| {
            let samples = EXPONENTIAL.samples(n, random);
            stats::percentile_interval(&samples, p)
                .unwrap()
                .covers(truth)
        });
        assert!((93.5..=98.5).contains(&covers), "P{p} of {n}: {covers}");
    }
}

#[test]
fn with_no_difference_tests_say_so() {
    for source in [NORMAL, LOGNORMAL, EXPONENTIAL, DIPS, TIES] {
        for (n, m) in [(3, 3), (5, 5), (8, 8), (5, 20), (20, 20)] {
            let wrong = coverage(ROUNDS, |random| {
                let (a, b) = (source.samples(n, random), source.samples(m, random));
                stats::ratio_p(&a, &b).unwrap() <= 0.05
            });
            // Two and a half standard deviations above 5 %; for 5 against 20 the skew shows.
            let most = if n == m { 6.2 } else { 8.5 };
            assert!(wrong <= most, "{} {n} {m}: {wrong}", source.name);
        }
    }
}
