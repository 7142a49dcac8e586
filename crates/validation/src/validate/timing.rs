//! Checks of timing: jitter keeps its bounds and the order, reordering has its configured rate, and
//! a policer lets its rate through.

use super::{
    Check, Expect, Line, Work,
    outcome::Outcome,
    theory::{FRAME, SIGMA_99, binomial_99},
};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jitter",
        source: "uniform distribution (tabledist, net/sched/sch_netem.c)",
        work: Work::Cells(include_str!("specs/jitter.toml"), jitter),
    },
    Check {
        name: "jitter keeps the order",
        source: "docs/reference/spec.md: jitter never reorders",
        work: Work::Cells(include_str!("specs/order.toml"), order),
    },
    Check {
        name: "reordering",
        source: "binomial distribution, 99 % interval",
        work: Work::Cells(include_str!("specs/reorder.toml"), reorder),
    },
    Check {
        name: "policer",
        source: "arithmetic: what passes is the rate",
        work: Work::Cells(include_str!("specs/policer.toml"), policer),
    },
];

fn jitter(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let Some(s) = outcomes.first() else {
        return Vec::new();
    };
    let rtts = s.probes_ms(true);
    let (middle, width) = (s.rtt_s() * 1e3, s.cell.path.down.jitter.as_secs_f64() * 1e3);
    let n = rtts.len() as f64;
    let deviation = width / 3f64.sqrt();
    // The closest of n samples is within 5 / n of the range to either bound, except in one case of
    // 150.
    let edge = 2.0 * width * 5.0 / n;
    let least = rtts.iter().copied().reduce(f64::min);
    let most = rtts.iter().copied().reduce(f64::max);
    let bound = |at: f64, inside: f64| Expect {
        value: Some(at),
        low: Some(at.min(inside) - 0.001),
        high: Some(at.max(inside) + 0.001),
    };
    let (low, high) = (middle - width, middle + width);
    // The mean of (x - m)^4 of a uniform distribution is 9/5 of the squared variance.
    let spread = SIGMA_99 * deviation * (0.8 / (4.0 * n)).sqrt();
    vec![
        Line::new("least", bound(low, low + edge), least, "ms"),
        Line::new("most", bound(high, high - edge), most, "ms"),
        Line::new(
            "mean",
            Expect::near(middle, SIGMA_99 * deviation / n.sqrt()),
            stats::mean(&rtts),
            "ms",
        ),
        Line::new(
            "standard deviation",
            Expect::near(deviation, spread),
            stats::standard_deviation(&rtts),
            "ms",
        ),
    ]
}

fn order(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let late = s.udp().last().map(|u| u.reordered as f64);
        Line::new(
            "10,000 datagrams a second",
            Expect::exactly(0.0),
            late,
            "reordered",
        )
    };
    outcomes.iter().map(one).collect()
}

/// The delay is one and a half times the distance of datagrams: one that overtakes it overtakes
/// its predecessor, unless that does, too, and no other.
fn reorder(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let p = s.cell.path.down.reorder.get();
        let overtaken = p * (1.0 - p);
        let last = s.udp().last().copied().unwrap_or_default();
        let n = last.highest as f64;
        let expected = Expect::near(n * overtaken, binomial_99(n, overtaken));
        let what = s.factor("path.down.reorder");
        Line::new(what, expected, Some(last.reordered as f64), "packets")
    };
    outcomes.iter().map(one).collect()
}

fn policer(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        // Headers: Ethernet, IPv4, UDP.
        let wire = s.goodput().map(|mbps| mbps * FRAME / (FRAME - 42.0));
        let what = s.factor("path.down.rate");
        Line::new(what, Expect::within(s.rate_mbps(), 0.003), wire, "Mbit/s")
    };
    outcomes.iter().map(one).collect()
}
