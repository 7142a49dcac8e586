//! Checks of AQMs: the delay of their queue is at their target.

use model::cell::Queue;

use super::{Check, Expect, Line, Work, outcome::Outcome};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "standing delay",
    source: "",
    work: Work::Cells(include_str!("specs/aqm.toml"), judge),
}];

/// CoDel drops until the least delay of an interval is below its target, so a delay sampled at any
/// time is around it; the difference depends on the flows.
const CODEL: f64 = 0.5;

/// PIE and DualPI2 integrate the difference to their target: no lasting error.
const INTEGRATING: f64 = 0.2;

fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let (target_ms, tolerance, source) = match s.queue() {
            Queue::Pie => (15.0, INTEGRATING, "RFC 8033 section 4.2: QDELAY_REF 15 ms"),
            Queue::Dualpi2 => (15.0, INTEGRATING, "RFC 9332 appendix A.1: target 15 ms"),
            Queue::Cake => (5.0, CODEL, "tc-cake(8): rtt 100 ms, target 5 ms"),
            _ => (5.0, CODEL, "RFC 8289 section 4.4: TARGET 5 ms"),
        };
        let got = s.row().and_then(|r| r.queue_p50_ms);
        let expected = Expect::within(target_ms, tolerance);
        Line::new(s.factor("path.queue"), expected, got, "ms").source(source)
    };
    outcomes.iter().map(one).collect()
}
