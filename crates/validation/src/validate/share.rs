//! Checks of BBR and CUBIC in one FIFO.

use super::{
    Check, Expect, Line, Work,
    outcome::Outcome,
    theory::{FRAME, bbr_share},
};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "BBR's share beside CUBIC",
    source: "Ware et al., IMC 2019, abstract: 40 % whatever the number of others",
    work: Work::Cells(include_str!("specs/share.toml"), judge),
}];

/// Ours: the paper gives no spread for its 40 %.
const TOLERANCE: f64 = 0.1;

/// Why the model's line is no failure.
const DIFFERS: &str =
    "BBR gets less than the model says; not explained in full, see docs/validation.md";

fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let share = |s: &Outcome<'_>| {
        let (bbr, cubic) = s.goodput().zip(s.cross(0)?.goodput_mbps)?;
        Some(bbr / (bbr + cubic))
    };
    let measured = outcomes.iter().map(|s| {
        Line::new(
            s.factor("path.buffer"),
            Expect::near(0.4, TOLERANCE),
            share(s),
            "",
        )
    });
    let modelled = outcomes.iter().map(|s| {
        let what = format!("{}, model", s.factor("path.buffer"));
        Line::new(what, Expect::near(model(s), TOLERANCE), share(s), "")
            .source("Ware et al., IMC 2019, section 4")
            .known(DIFFERS)
    });
    measured.chain(modelled).collect()
}

fn model(outcome: &Outcome<'_>) -> f64 {
    let bytes = outcome.cell.path.down.buffer.bytes(outcome.cell.path.mtu).0 as f64;
    let buffer_s = bytes * 8.0 / (outcome.rate_mbps() * 1e6);
    let (bdps, packets) = (buffer_s / outcome.rtt_s(), bytes / FRAME);
    bbr_share(bdps, packets, 1.0, buffer_s, outcome.rtt_s())
}
