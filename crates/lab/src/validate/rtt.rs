//! The round trip of an unloaded path is the delay that was asked for.

use super::{Check, Expect, Line, Work, seen::Seen};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "unloaded RTT",
    source: "arithmetic: sum of the delays",
    work: Work::Cells(include_str!("specs/rtt.toml"), judge),
}];

/// A clock read may take a quarter of a microsecond of virtual time (`TIMER_MULTIPLIER`,
/// arch/um/kernel/time.c), so a round trip is that exact and no more.
const TOLERANCE_MS: f64 = 0.001;

fn judge(seen: &[Seen<'_>]) -> Vec<Line> {
    let one = |s: &Seen<'_>| {
        let expected = Expect::near(s.rtt_s() * 1e3, TOLERANCE_MS);
        let got = s.row().and_then(|r| r.probe_idle_p50_ms);
        let what = format!("{} {}", s.factor("delays"), s.factor("path.ip"));
        Line::new(what, expected, got, "ms")
    };
    seen.iter().map(one).collect()
}
