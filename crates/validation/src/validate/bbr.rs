//! Checks of BBR and CUBIC under random loss: the well-known figure.

use super::{
    Check, Expect, Line, Work,
    outcome::{Outcome, by},
    theory::{FRAME, MSS, bbr_after_bottleneck},
};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "random loss, 100 Mbit/s, 100 ms",
        source: "Cardwell et al., CACM 60(2) 2017, figure 8",
        work: Work::Cells(include_str!("specs/bbr.toml"), judge),
    },
    Check {
        name: "BBR, loss after the bottleneck",
        source: "net/ipv4/tcp_bbr.c: paces at 0.99 of what arrives",
        work: Work::Cells(include_str!("specs/bbr-after.toml"), judge_after),
    },
];

/// Goodput as a share of the link's capacity.
fn share(outcome: &Outcome<'_>) -> Option<f64> {
    Some(outcome.goodput()? / (outcome.rate_mbps() * MSS / FRAME))
}

/// Median over the seeds.
fn median(outcomes: &[Outcome<'_>], cc: &str, loss: &str) -> Option<f64> {
    let own = outcomes
        .iter()
        .filter(|s| s.cell.ends.far.cc == cc && s.factor("path.down.loss") == loss);
    let shares: Option<Vec<f64>> = own.map(share).collect();
    stats::median(&shares?)
}

fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line = |cc: &str, loss: &str, expected| {
        let what = format!("{cc} at {loss}");
        lines.push(Line::new(
            what,
            expected,
            median(outcomes, cc, loss),
            "of C",
        ));
    };
    for (loss, p) in [("0.1%", 0.001), ("1%", 0.01), ("2%", 0.02), ("5%", 0.05)] {
        line("bbr", loss, Expect::at_least(0.95 * (1.0 - p)));
    }
    // Its probes at 1.25 of the rate detect no more capacity when a fifth of them is lost.
    line("bbr", "15%", Expect::at_least(0.5 * 0.85));
    line("bbr", "20%", Expect::at_most(0.5 * 0.8));
    line("cubic", "0.1%", Expect::at_most(0.2));
    line("cubic", "1%", Expect::at_most(0.05));
    lines
}

fn judge_after(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |(loss, p): (&str, f64)| {
        let expected = Expect::within(bbr_after_bottleneck(p), 0.03);
        let got = by(outcomes, "path.down.loss", loss).and_then(share);
        Line::new(format!("at {loss}"), expected, got, "of C")
    };
    [("1%", 0.01), ("2%", 0.02), ("5%", 0.05)].map(one).to_vec()
}
