//! Checks of the round trip: on an unloaded path it is the configured delay.

use super::{Check, Expect, Line, Work, outcome::Outcome};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "unloaded RTT",
    source: "arithmetic: sum of the delays; two timers of 756 ns",
    work: Work::Cells(include_str!("specs/rtt.toml"), judge),
}];

/// Each of the two delays ends with a timer. The guest's clock advances in steps of 256 ns
/// (`TIMER_MULTIPLIER`, arch/um/kernel/time.c), so a timer may expire early, and is restarted with
/// the minimum of 500 ns (`TIMER_MIN_DELTA`).
const TOLERANCE_MS: f64 = 2.0 * (256.0 + 500.0) / 1e6;

fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let expected = Expect::near(s.rtt_s() * 1e3, TOLERANCE_MS);
        let got = s.row().and_then(|r| r.probe_idle_p50_ms);
        let what = format!("{} {}", s.factor("delays"), s.factor("path.ip"));
        Line::new(what, expected, got, "ms")
    };
    outcomes.iter().map(one).collect()
}
