//! A path without an injected fault: rate, delay, queues, hosts, a tunnel that fits.

use model::net::Direction;
use stats::Random;

use super::{Keys, Scale, between, chance, duration, percent, pick, rate};

/// Common line rates, kbit/s: modems, DSL, cable, mobile, Ethernet.
const COMMON: [f64; 21] = [
    512.0, 1e3, 2e3, 4e3, 6e3, 8e3, 10e3, 16e3, 20e3, 25e3, 30e3, 50e3, 75e3, 100e3, 150e3, 200e3,
    250e3, 300e3, 500e3, 1e6, 2.5e6,
];
/// Slowest and fastest rate, kbit/s.
const RATES: (f64, f64) = (256.0, 2.5e6);
/// Above this rate, kbit/s, a draw is kept with a chance that falls as the cost of a lab run rises,
/// in proportion to the rate.
const CHEAP: f64 = 150e3;
/// Shortest and longest RTT, ms.
const RTTS: (f64, f64) = (0.3, 600.0);
/// Largest bandwidth-delay product, bytes: a longer slow start than a short plan allows.
const MOST_BDP: f64 = 6e6;
/// Least bytes of an IPv6 link.
const MIN_V6: u32 = 1280;

/// Draws the path.
pub(super) fn draw(random: &mut Random, keys: &mut Keys) -> Scale {
    let scale = line(random, keys);
    queues(random, &scale, keys);
    for direction in [Direction::Down, Direction::Up] {
        nuisances(random, &scale, direction, keys);
    }
    ends(random, keys);
    if chance(random, 0.35) {
        tunnel(random, &scale, keys);
    }
    scale
}

fn line_rate(random: &mut Random) -> f64 {
    loop {
        let kbit = match chance(random, 0.6) {
            true => COMMON[random.below(COMMON.len())],
            false => between(random, RATES.0, RATES.1),
        };
        if chance(random, CHEAP / kbit) {
            return kbit;
        }
    }
}

/// Rates, delay, MTU and family.
fn line(random: &mut Random, keys: &mut Keys) -> Scale {
    let down = line_rate(random);
    let up = match chance(random, 0.5) {
        true => down,
        false => (down * between(random, 0.05, 1.0)).max(RATES.0),
    };
    let rtt_ms = between(random, RTTS.0, RTTS.1)
        .min(MOST_BDP * 8.0 / down)
        .max(RTTS.0);
    let mtu = pick(
        random,
        &[
            (1500, 76),
            (1492, 8),
            (1460, 4),
            (1400, 5),
            (1280, 4),
            (9000, 3),
        ],
    );
    let v6 = chance(random, 0.2);
    keys.text("path.rtt", &duration(rtt_ms));
    keys.text("path.down.rate", &rate(down));
    keys.text("path.up.rate", &rate(up));
    keys.plain("path.mtu", mtu);
    if v6 {
        keys.text("path.ip", "ipv6");
    }
    Scale {
        kbit: [down.round(), up.round()],
        rtt_ms,
        mtu,
        overhead: if v6 { 80 } else { 60 },
    }
}

/// The queues of both directions: the same kind on most paths.
fn queues(random: &mut Random, scale: &Scale, keys: &mut Keys) {
    let kind = |random: &mut Random| {
        pick(
            random,
            &[
                ("fifo", 56),
                ("fq_codel", 14),
                ("cake", 9),
                ("codel", 5),
                ("pie", 5),
                ("fq", 5),
                ("red", 3),
                ("dualpi2", 3),
            ],
        )
    };
    let down = kind(random);
    let up = match chance(random, 0.6) {
        true => down,
        false => kind(random),
    };
    for (direction, queue) in [(Direction::Down, down), (Direction::Up, up)] {
        keys.text(&format!("path.{direction}.queue"), queue);
        if matches!(queue, "fifo" | "red") {
            // Enough for cubic at short delays, and little enough for latency.
            let ms = between(random, 8.0, 28.0);
            let bytes = scale.buffer(direction, ms, 10);
            keys.text(&format!("path.{direction}.buffer"), &format!("{bytes}B"));
        }
    }
}

/// What real paths have and what costs nothing: a little loss and delay variation.
fn nuisances(random: &mut Random, scale: &Scale, direction: Direction, keys: &mut Keys) {
    if chance(random, 0.12) {
        let loss = between(random, 0.0005, 0.02);
        keys.text(&format!("path.{direction}.loss"), &percent(loss));
    }
    if chance(random, 0.12) {
        let jitter = scale.rtt_ms * between(random, 0.002, 0.02);
        keys.text(&format!("path.{direction}.jitter"), &duration(jitter));
    }
}

/// The hosts: mostly alike.
fn ends(random: &mut Random, keys: &mut Keys) {
    let cc = |random: &mut Random| pick(random, &[("cubic", 76), ("bbr", 16), ("reno", 8)]);
    let qdisc = |random: &mut Random| {
        let of = [
            ("fq_codel", 50),
            ("fq", 34),
            ("fifo", 8),
            ("noqueue", 5),
            ("cake", 3),
        ];
        pick(random, &of)
    };
    let same = chance(random, 0.75);
    let (mut server, mut client) = (cc(random), cc(random));
    if same {
        client = server;
    } else if server == client {
        server = "bbr";
    }
    keys.text("ends.server.cc", server);
    keys.text("ends.client.cc", client);
    keys.text("ends.server.qdisc", qdisc(random));
    keys.text("ends.client.qdisc", qdisc(random));
    if chance(random, 0.15) {
        keys.plain("ends.ecn", true);
    }
}

/// A tunnel whose packets fit the path.
pub(super) fn tunnel(random: &mut Random, scale: &Scale, keys: &mut Keys) {
    let most = scale.mtu - scale.overhead;
    let mtu = match pick(random, &[("exact", 5), ("usual", 4), ("small", 3)]) {
        "exact" => most,
        "usual" => most.min(1420),
        _ => most.min(1280),
    };
    keys.plain("tunnel.mtu", mtu);
    keys.text("tunnel.at", pick(random, &[("ends", 3), ("routers", 1)]));
    if mtu >= MIN_V6 && chance(random, 0.15) {
        keys.text("tunnel.ip", "ipv6");
    }
}
