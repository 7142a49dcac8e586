//! Checks of losses and duplicates: their rate and their bursts are as configured.

use model::record::UdpSample;

use super::{
    Check, Expect, Line, Work,
    outcome::Outcome,
    theory::{SIGMA_99, binomial_99},
};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "random loss",
        source: "binomial distribution, 99 % interval",
        work: Work::Cells(include_str!("specs/loss.toml"), random),
    },
    Check {
        name: "bursty loss",
        source: "Gilbert 1960: p / (p + r) and 1 / r, 99 % interval",
        work: Work::Cells(include_str!("specs/bursts.toml"), bursts),
    },
    Check {
        name: "periodic loss",
        source: "arithmetic: one in n (gact_determ, net/sched/act_gact.c)",
        work: Work::Cells(include_str!("specs/periodic.toml"), periodic),
    },
    Check {
        name: "duplicates",
        source: "binomial distribution, 99 % interval",
        work: Work::Cells(include_str!("specs/duplicate.toml"), duplicates),
    },
];

fn last(outcome: &Outcome<'_>) -> Option<UdpSample> {
    outcome.udp().last().copied()
}

/// A count out of `n` events of probability `p`.
fn count(what: String, n: f64, p: f64, got: f64) -> Line {
    Line::new(
        what,
        Expect::near(n * p, binomial_99(n, p)),
        Some(got),
        "packets",
    )
}

fn random(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let mut lines = Vec::new();
    for s in outcomes {
        let p = s.loss();
        let label = s.factor("path.down.loss");
        if let Some(truth) = s.losses() {
            let what = format!("{label}, dropped");
            lines.push(count(what, truth.packets as f64, p, truth.drops as f64));
        }
        let what = format!("{label}, missed by the receiver");
        lines.push(match last(s) {
            Some(u) => {
                let missed = u.highest - u.received;
                count(what, u.highest as f64, p, missed as f64)
            }
            None => Line::failed(what, "no datagram arrived"),
        });
    }
    lines
}

/// Lengths of the gaps in the numbers, and the distances of their ends. The cell writes a record a
/// datagram.
fn gaps(samples: &[UdpSample]) -> Vec<(u64, u64)> {
    let mut gaps = Vec::new();
    let mut before = 0;
    for pair in samples.windows(2) {
        let arrived = pair[1].received - pair[0].received;
        let missed = pair[1].highest - pair[0].highest - arrived;
        if missed > 0 {
            gaps.push((missed, pair[1].highest - before));
            before = pair[1].highest;
        }
    }
    gaps
}

/// Of a chain with persistence `1 - p - r`, the mean over n steps varies by this factor more than
/// that of independent ones.
fn spread(p: f64, r: f64) -> f64 {
    ((2.0 - p - r) / (p + r)).sqrt()
}

fn bursts(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let mut lines = Vec::new();
    for s in outcomes {
        let model::cell::Loss::GilbertElliott { p, r, .. } = s.cell.path.down.loss else {
            continue;
        };
        let (p, r) = (p.get(), r.get());
        let bad = p / (p + r);
        let label = s.factor("path.down.loss");
        let rate = s.losses().and_then(|t| t.share());
        let n = s.losses().map_or(1.0, |t| t.packets as f64);
        let tolerance = binomial_99(n, bad) / n * spread(p, r);
        lines.push(Line::new(
            format!("{label}, share"),
            Expect::near(bad, tolerance),
            rate,
            "",
        ));
        let lengths: Vec<f64> = gaps(&s.udp()).iter().map(|(n, _)| *n as f64).collect();
        let deviation = (1.0 - r).sqrt() / r;
        let tolerance = SIGMA_99 * deviation / (lengths.len().max(1) as f64).sqrt();
        let what = format!("{label}, burst");
        let expected = Expect::near(1.0 / r, tolerance);
        lines.push(Line::new(what, expected, stats::mean(&lengths), "packets"));
    }
    lines
}

fn periodic(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let mut lines = Vec::new();
    for s in outcomes {
        let n = 1.0 / s.loss();
        let label = s.factor("path.down.loss");
        let truth = s.losses();
        let whole = truth.map_or(f64::NAN, |t| (t.packets as f64 / n).floor());
        let drops = truth.map(|t| t.drops as f64);
        let what = format!("{label}, dropped");
        lines.push(Line::new(what, Expect::exactly(whole), drops, "packets"));
        // The first distance counts from the start.
        let apart: Vec<f64> = gaps(&s.udp())
            .iter()
            .skip(1)
            .map(|(_, d)| *d as f64)
            .collect();
        for (end, value) in [
            ("least", apart.iter().copied().reduce(f64::min)),
            ("most", apart.iter().copied().reduce(f64::max)),
        ] {
            let what = format!("{label}, {end} distance");
            lines.push(Line::new(
                what,
                Expect::exactly(n.round()),
                value,
                "packets",
            ));
        }
    }
    lines
}

fn duplicates(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let p = s.cell.path.down.duplicate.get();
        let what = s.factor("path.down.duplicate");
        match last(s) {
            Some(u) => count(what, u.highest as f64, p, u.duplicates as f64),
            None => Line::failed(what, "no datagram arrived"),
        }
    };
    outcomes.iter().map(one).collect()
}
