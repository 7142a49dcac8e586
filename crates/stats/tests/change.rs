//! Detection of steps: early, and without false alarms.

mod common;

use common::{Draw, coverage, exponential, normal};
use stats::changes;

/// Share of series with a step of -5 % that is found within `within` values, %.
fn found(noise: f64, within: usize) -> f64 {
    coverage(300, |random| {
        let at = 15 + random.below(100 - 15 - within);
        let series: Vec<f64> = (0..100)
            .map(|i| (if i < at { 1.0 } else { 0.95 }) * (1.0 + noise * normal(random)))
            .collect();
        changes(&series)
            .iter()
            .any(|change| (at..at + within).contains(&change.found))
    })
}

#[test]
fn a_step_of_five_percent_is_found_within_five_values() {
    for (noise, least) in [(0.005, 98.0), (0.01, 98.0), (0.015, 95.0), (0.02, 82.0)] {
        let share = found(noise, 5);
        assert!(share >= least, "noise {noise}: {share} %");
    }
    // With 2 % of noise it takes ten.
    let share = found(0.02, 10);
    assert!(share >= 97.0, "{share} %");
}

#[test]
fn series_without_a_change_alarm_in_at_most_one_of_twenty() {
    let draws: [(&str, Draw); 3] = [
        ("normal", normal),
        ("exponential", exponential),
        ("whole numbers", |r| (3.0 * normal(r)).round()),
    ];
    for (name, draw) in draws {
        let alarms = coverage(1000, |random| {
            let series: Vec<f64> = (0..100).map(|_| draw(random)).collect();
            !changes(&series).is_empty()
        });
        assert!(alarms <= 5.0, "{name}: {alarms} % of series");
    }
}
