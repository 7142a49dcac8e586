//! Checks of two lines in series, and of the shaper of the router between them.

use model::{
    cell::{Buffer, Queue},
    net::Direction,
    record::QueuePlace,
    units::Rate,
};

use super::{
    Check, Expect, Line, Work,
    outcome::Outcome,
    theory::{BETA, DATAGRAM, FRAME, MSS},
};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "two lines in series",
        source: "arithmetic: the slower one passes, each overfilled one delays by N * 8 * 1514 / rate",
        work: Work::Cells(include_str!("specs/two-lines.toml"), lines_in_series),
    },
    Check {
        name: "router's shaper",
        source: "arithmetic: 0.95 of the line's rate",
        work: Work::Cells(include_str!("specs/router.toml"), shaper),
    },
];

fn direction(outcome: &Outcome<'_>) -> Direction {
    let first = outcome.cell.traffic.directions.first().copied();
    first.unwrap_or(Direction::Down)
}

fn mbps(rate: Option<Rate>) -> f64 {
    rate.map_or(f64::NAN, |rate| rate.bps() as f64 / 1e6)
}

/// Rate and packets of the two lines, in the order in which packets pass them.
fn in_order(outcome: &Outcome<'_>) -> [(f64, f64); 2] {
    let path = &outcome.cell.path;
    let direction = direction(outcome);
    let packets = |buffer: Buffer| f64::from(buffer.packets(path.mtu));
    let line = path.line(direction);
    let far = (mbps(line.rate), packets(line.buffer));
    let near = path.local.map_or((f64::NAN, f64::NAN), |local| {
        let line = local.line(direction);
        (mbps(line.rate), packets(line.buffer))
    });
    match direction {
        Direction::Down => [far, near],
        Direction::Up => [near, far],
    }
}

/// A line is full if more arrives than it passes. A probe takes the last place in a full queue: it
/// waits for the N - 1 packets before it.
fn lines_in_series(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let what = format!("{}, {}", s.factor("lines"), s.factor("traffic.direction"));
        let (mut arrives, mut waits, mut tolerance) = (f64::INFINITY, 0.0, 0.0);
        for (rate, packets) in in_order(s) {
            let packet_ms = FRAME * 8.0 / rate / 1e3;
            if arrives > rate {
                waits += (packets - 1.0) * packet_ms;
                tolerance += packet_ms;
            }
            arrives = arrives.min(rate);
        }
        let wire = s.goodput().map(|mbps| mbps * FRAME / DATAGRAM);
        let slowest = s.probes_ms(false).into_iter().reduce(f64::max);
        let idle = s.row().and_then(|row| row.probe_idle_p50_ms);
        let base = s.rtt_s() * 1e3;
        let line = |part: &str, expected, got, unit| {
            Line::new(format!("{what}, {part}"), expected, got, unit)
        };
        [
            line("rate", Expect::within(arrives, 0.003), wire, "Mbit/s"),
            line("unloaded RTT", Expect::near(base, 0.01), idle, "ms"),
            line(
                "delay",
                Expect::near(waits, tolerance),
                slowest.map(|ms| ms - base),
                "ms",
            ),
        ]
    };
    outcomes.iter().flat_map(one).collect()
}

/// Without a shaper the line's queue never falls below what is left after CUBIC's decrease from a
/// full one: BETA times the delay with a full queue, less the delay of the empty path.
fn unshaped(s: &Outcome<'_>) -> Vec<Line> {
    let path = &s.cell.path;
    let line = path.line(direction(s));
    let full_ms = line.buffer.bytes(path.mtu).0 as f64 * 8.0 / mbps(line.rate) / 1e3;
    let base = s.rtt_s() * 1e3;
    let what = format!("none, {}", s.factor("traffic.direction"));
    let loaded = s.row().and_then(|row| row.probe_p50_ms);
    vec![
        Line::new(
            format!("{what}, loaded RTT"),
            Expect::at_least(BETA * (base + full_ms)),
            loaded,
            "ms",
        )
        .source("RFC 9438 section 4.6: a decrease to 0.7"),
    ]
}

/// The shaper's queue stands at the target of its kind, as the check of standing delays has it, and
/// that of the line behind it is empty.
fn shaper(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    outcomes.iter().flat_map(one_shaper).collect()
}

fn one_shaper(s: &Outcome<'_>) -> Vec<Line> {
    let direction = direction(s);
    let shaper = s.cell.path.local.and_then(|local| local.shaper(direction));
    let Some(shaper) = shaper else {
        return unshaped(s);
    };
    let what = format!("{}, {}", s.factor("shaper"), s.factor("traffic.direction"));
    let (target, tolerance, source) = match shaper.queue {
        Queue::Pie => (15.0, 0.2, "RFC 8033 section 4.2: QDELAY_REF 15 ms"),
        Queue::Cake => (5.0, 0.5, "tc-cake(8): rtt 100 ms, target 5 ms"),
        _ => (5.0, 0.5, "RFC 8289 section 4.4: TARGET 5 ms"),
    };
    let rate = mbps(Some(shaper.rate)) * MSS / FRAME;
    let median = |place| stats::median(&s.waits_ms(place, direction)?);
    let packet_ms = FRAME * 8.0 / mbps(s.cell.path.line(direction).rate) / 1e3;
    vec![
        Line::new(
            format!("{what}, goodput"),
            Expect::within(rate, 0.01),
            s.goodput(),
            "Mbit/s",
        ),
        Line::new(
            format!("{what}, router's queue"),
            Expect::within(target, tolerance),
            median(QueuePlace::Router),
            "ms",
        )
        .source(source),
        Line::new(
            format!("{what}, line's queue"),
            Expect::at_most(f64::from(s.cell.traffic.flows) * packet_ms),
            median(QueuePlace::Bottleneck),
            "ms",
        )
        .source("arithmetic: less arrives than passes, a packet of each flow at once"),
    ]
}
