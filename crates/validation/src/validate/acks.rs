//! Checks of TCP whose acknowledgements are few or late.

use super::{Check, Expect, Line, Work, outcome::Outcome, theory::ACK};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "rate of ACKs",
        source: "arithmetic: rate / 66 bytes, times the bytes that an ACK acknowledges",
        work: Work::Cells(include_str!("specs/acks.toml"), rate),
    },
    Check {
        name: "merged ACKs",
        source: "arithmetic: window / (RTT + slot)",
        work: Work::Cells(include_str!("specs/merged.toml"), merged),
    },
];

/// On the way back as many ACKs pass as its rate allows, and each lets go the bytes that it
/// acknowledges, whatever the rate of the way there. How many that are is up to the receiver's
/// kernel: mostly two segments.
fn rate(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let up = s
            .cell
            .path
            .up
            .rate
            .map_or(f64::NAN, |rate| rate.bps() as f64);
        let a_second = up / 8.0 / ACK;
        let what = s.factor("path.up.rate");
        let counted = counted(s);
        let bound = counted.map_or(f64::NAN, |acks| a_second * acks.bytes_each * 8.0 / 1e6);
        [
            Line::new(
                format!("{what}, arriving"),
                Expect::within(a_second, 0.005),
                counted.map(|acks| acks.a_second),
                "ACKs/s",
            ),
            Line::new(
                format!("{what}, goodput"),
                Expect::within(bound, 0.01),
                s.goodput(),
                "Mbit/s",
            ),
        ]
    };
    outcomes.iter().flat_map(one).collect()
}

/// ACKs that the sender got while measuring.
#[derive(Clone, Copy)]
struct Acks {
    a_second: f64,
    bytes_each: f64,
}

fn counted(s: &Outcome<'_>) -> Option<Acks> {
    let all = s.senders();
    let ((from, first), (to, last)) = (all.first()?, all.last()?);
    let acks = f64::from(last.segs_in?.checked_sub(first.segs_in?)?);
    let bytes = last.bytes_acked?.checked_sub(first.bytes_acked?)? as f64;
    Some(Acks {
        a_second: acks / (to - from),
        bytes_each: bytes / acks,
    })
}

/// All segments of a window leave at once, and their ACKs wait together for the end of the slot
/// that the first one begins: a round takes the RTT and the slot. The window is that of the cell
/// without slots.
fn merged(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let window = |s: &Outcome<'_>| Some(s.goodput()? * s.rtt_s());
    let Some(window) = outcomes.first().and_then(window) else {
        return Vec::new();
    };
    let slotted = outcomes.iter().filter(|s| s.cell.path.up.slots.is_some());
    let one = |s: &Outcome<'_>| {
        let slot = s.cell.path.up.slots.unwrap_or_default().as_secs_f64();
        let expected = window / (s.rtt_s() + slot);
        let what = s.factor("path.up.slots");
        Line::new(what, Expect::within(expected, 0.01), s.goodput(), "Mbit/s")
    };
    slotted.map(one).collect()
}
