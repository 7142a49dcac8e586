//! BBR and CUBIC in one FIFO.

use super::{
    Check, Expect, Line, Work,
    seen::Seen,
    theory::{FRAME, bbr_share},
};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "BBR's share beside CUBIC",
    source: "Ware et al., IMC 2019, section 4",
    work: Work::Cells(include_str!("specs/share.toml"), judge),
}];

fn judge(seen: &[Seen<'_>]) -> Vec<Line> {
    let one = |s: &Seen<'_>| {
        let bytes = s.cell.path.down.buffer.bytes(s.cell.path.mtu).0 as f64;
        let bits_per_s = s.rate_mbps() * 1e6;
        let buffer_s = bytes * 8.0 / bits_per_s;
        let (bdps, packets) = (buffer_s / s.rtt_s(), bytes / FRAME);
        let expected = bbr_share(bdps, packets, 1.0, buffer_s, s.rtt_s());
        let got = s.goodput().zip(s.cross(0).and_then(|r| r.goodput_mbps));
        let got = got.map(|(bbr, cubic)| bbr / (bbr + cubic));
        Line::new(
            s.factor("path.buffer"),
            Expect::near(expected, 0.1),
            got,
            "",
        )
    };
    seen.iter().map(one).collect()
}
