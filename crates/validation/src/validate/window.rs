//! Checks of the windows of Reno and CUBIC under loss against the standards.

use super::{
    Check, Expect, Line, Work,
    outcome::Outcome,
    theory::{MSS, cubic_window, reno_window},
};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "Reno, periodic loss",
        source: "RFC 9438 section 4.3 (AIMD 1, 0.5); Mathis et al. 1997",
        work: Work::Cells(include_str!("specs/reno.toml"), reno),
    },
    Check {
        name: "CUBIC, periodic loss",
        source: "RFC 9438 sections 4.3 and 5.1",
        work: Work::Cells(include_str!("specs/cubic.toml"), cubic),
    },
    Check {
        name: "slope under random loss",
        source: "RFC 9438 section 5.1: p^-0.75; Mathis et al. 1997: p^-0.5",
        work: Work::Cells(include_str!("specs/slope.toml"), slopes),
    },
];

/// Bound of the standard's formulas.
const TOLERANCE: f64 = 0.15;

/// The window that a goodput corresponds to, in segments.
fn window(outcome: &Outcome<'_>) -> Option<f64> {
    Some(outcome.goodput()? * 1e6 * outcome.rtt_s() / (8.0 * MSS))
}

fn reno(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    windows(outcomes, |s| reno_window(s.loss()))
}

fn cubic(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    windows(outcomes, |s| cubic_window(s.loss(), s.rtt_s()))
}

fn windows(outcomes: &[Outcome<'_>], theory: fn(&Outcome<'_>) -> f64) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let what = format!("1 in {:.0}, {:.0} ms", 1.0 / s.loss(), s.rtt_s() * 1e3);
        let expected = Expect::within(theory(s), TOLERANCE);
        Line::new(what, expected, window(s), "segments")
    };
    outcomes.iter().map(one).collect()
}

/// Slope of the goodput over the loss, both as logarithms.
fn slope(outcomes: &[Outcome<'_>], cc: &str) -> Option<f64> {
    let own = outcomes.iter().filter(|s| s.cell.ends.far.cc == cc);
    let points: Option<Vec<(f64, f64)>> = own
        .map(|s| Some((s.loss().ln(), s.goodput()?.ln())))
        .collect();
    stats::slope(&points?)
}

fn slopes(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let (reno, cubic) = (slope(outcomes, "reno"), slope(outcomes, "cubic"));
    vec![
        Line::new("Reno", Expect::near(-0.5, 0.07), reno, ""),
        Line::new("CUBIC", Expect::near(-0.75, 0.1), cubic, ""),
    ]
}
