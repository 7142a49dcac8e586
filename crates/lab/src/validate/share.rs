//! BBR and CUBIC in one FIFO.

use super::{
    Check, Expect, Line, Work,
    seen::Seen,
    theory::{FRAME, bbr_share},
};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "BBR's share beside CUBIC",
    source: "Ware et al., IMC 2019, abstract: 40 % whatever the number of others",
    work: Work::Cells(include_str!("specs/share.toml"), judge),
}];

/// What single flows of published measurements scatter by.
const TOLERANCE: f64 = 0.1;

/// Why the model's line may fail. See docs/validation.md.
const FULL: &str = "the model takes the queue for full at all times; one CUBIC flow leaves it at \
                    0.6 to 0.9 of that, and BBR measures its round trip when it is emptiest";

fn judge(seen: &[Seen<'_>]) -> Vec<Line> {
    let share = |s: &Seen<'_>| {
        let (bbr, cubic) = s.goodput().zip(s.cross(0)?.goodput_mbps)?;
        Some(bbr / (bbr + cubic))
    };
    let measured = seen.iter().map(|s| {
        Line::new(
            s.factor("path.buffer"),
            Expect::near(0.4, TOLERANCE),
            share(s),
            "",
        )
    });
    let modelled = seen.iter().map(|s| {
        let what = format!("{}, model", s.factor("path.buffer"));
        Line::new(what, Expect::near(model(s), TOLERANCE), share(s), "")
            .source("Ware et al., IMC 2019, section 4")
            .known(FULL)
    });
    measured.chain(modelled).collect()
}

fn model(seen: &Seen<'_>) -> f64 {
    let bytes = seen.cell.path.down.buffer.bytes(seen.cell.path.mtu).0 as f64;
    let buffer_s = bytes * 8.0 / (seen.rate_mbps() * 1e6);
    let (bdps, packets) = (buffer_s / seen.rtt_s(), bytes / FRAME);
    bbr_share(bdps, packets, 1.0, buffer_s, seen.rtt_s())
}
