//! Checks of competitors: one that starts and stops, and those with a profile.

use model::cell::{Queue, TrafficKind};

use super::{
    Check, Expect, Line, Work,
    arrived::Arrived,
    outcome::Outcome,
    theory::{DATAGRAM, FRAME, MSS},
};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "competitor with a time",
        source: "arithmetic: its rate, or half of a fair queue",
        work: Work::Cells(include_str!("specs/competitor.toml"), judge),
    },
    Check {
        name: "competitors by profile",
        source: "docs/reference/spec.md: profiles",
        work: Work::Cells(include_str!("specs/profiles.toml"), profiles),
    },
];

/// Time until the receiver's sample: it waits up to 20 ms for datagrams (traffic, `udp::WAIT`), and
/// samples every 10 ms.
const WAIT: f64 = 0.03;

/// Time in which TCP adapts to another share, s.
const ADAPTS: f64 = 1.0;

fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let lines = |s: &Outcome<'_>| {
        one(s).unwrap_or_else(|| vec![Line::failed(s.factor("case"), "no competitor")])
    };
    outcomes.iter().flat_map(lines).collect()
}

fn one(s: &Outcome<'_>) -> Option<Vec<Line>> {
    let cross = s.cell.cross.first()?;
    let (start, stop) = (cross.start.as_secs_f64(), cross.stop?.as_secs_f64());
    let end = s.cell.length().as_secs_f64() - s.cell.idle.as_secs_f64();
    let TrafficKind::Udp { rate, .. } = cross.kind else {
        return None;
    };
    let offered = rate.bps() as f64 / 1e6 * FRAME / DATAGRAM;
    let line = s.rate_mbps();
    let share = match s.queue() {
        Queue::Fifo => offered,
        _ => offered.min(line / 2.0),
    };
    let own = Arrived::datagrams(s, s.flow_of(0)?);
    let tcp = Arrived::segments(s, 0);
    let path = &s.cell.path;
    let delay = path.down.delay.as_secs_f64();
    let queue = path.down.buffer.bytes(path.mtu).0 as f64 * 8.0 / line / 1e6;
    let case = s.factor("case");
    let rates = |what: &str, expected, got| {
        let what = format!("{case}, {what}");
        // TCP leaves the line idle for less than this after a loss.
        Line::new(what, Expect::within(expected, 0.02), got, "Mbit/s")
    };
    let times = |what: &str, expected: f64, got: Option<f64>| {
        let what = format!("{case}, {what}");
        let expected = Expect {
            value: None,
            low: Some(expected + delay),
            high: Some(expected + delay + queue + WAIT),
        };
        Line::new(what, expected, got, "s")
    };
    Some(vec![
        rates("TCP before", line, tcp.mbps(ADAPTS, start)),
        rates(
            "TCP beside it",
            line - share,
            tcp.mbps(start + ADAPTS, stop),
        ),
        rates("TCP after", line, tcp.mbps(stop + ADAPTS, end)),
        rates("competitor", share, own.mbps(start + ADAPTS, stop)),
        times("begins", start, own.span().map(|(first, _)| first)),
        times("ends", stop, own.span().map(|(_, last)| last)),
    ])
}

/// Averages over 20 s: two pages, five segments, a constant rate, and all of the way up.
fn profiles(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let what = s.factor("cross.0.profile");
        let expected = match what.as_str() {
            "web" => Expect::within(2.0 * 72.0 * 37e3 * 8.0 / 20.0 / 1e6, 1e-6),
            "video" => Expect::within(5.0, 1e-6),
            "call" => Expect::within(1.2, 0.003),
            _ => Expect::within(10.0 * MSS / FRAME, 0.02),
        };
        let got = s.cross(0).and_then(|row| row.goodput_mbps);
        Line::new(what, expected, got, "Mbit/s")
    };
    outcomes.iter().map(one).collect()
}
