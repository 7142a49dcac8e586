//! Checks of goodput: on a saturated path it is the rate less the headers.

use super::{
    Check, Expect, Line, Work,
    outcome::{Outcome, by},
    theory::{FRAME, MSS, MSS_TUNNEL, MSS_V6, WIREGUARD_V4, WIREGUARD_V6},
};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "goodput share",
    source: "arithmetic: payload / frame; WireGuard adds 60 or 80 B",
    work: Work::Cells(include_str!("specs/goodput.toml"), judge),
}];

/// Losses of a CUBIC flow leave the link idle for less than this.
const TOLERANCE: f64 = 0.003;

fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    // The tunnel's packets of 1420 bytes, with their outer headers and Ethernet's.
    let frame_v4 = 1420.0 + WIREGUARD_V4 + 14.0;
    let frame_v6 = 1420.0 + WIREGUARD_V6 + 14.0;
    let share = |label: &str| {
        let outcomes = by(outcomes, "layer", label)?;
        Some(outcomes.goodput()? / outcomes.rate_mbps())
    };
    let ratio = |label: &str| Some(share(label)? / share("plain IPv4")?);
    let line = |what: &str, expected: f64, got| {
        Line::new(what, Expect::within(expected, TOLERANCE), got, "")
    };
    let (v4, v6) = ("WireGuard over IPv4", "WireGuard over IPv6");
    let plain = MSS / FRAME;
    vec![
        line("plain IPv4", plain, share("plain IPv4")),
        line("plain IPv6", MSS_V6 / FRAME, share("plain IPv6")),
        line(v4, MSS_TUNNEL / frame_v4, share(v4)),
        line(v6, MSS_TUNNEL / frame_v6, share(v6)),
        line(
            "WireGuard over IPv4 / plain",
            MSS_TUNNEL / frame_v4 / plain,
            ratio(v4),
        ),
        line(
            "WireGuard over IPv6 / plain",
            MSS_TUNNEL / frame_v6 / plain,
            ratio(v6),
        ),
    ]
}
