//! Paths without an injected fault: rate, delay, queues, hosts, a tunnel that fits.

use model::{
    cell::{Buffer, EndQdisc, Queue, TunnelAt},
    net::{Direction, IpVersion},
    path::{Ends, Line, Loss, Parameter, Path, Tunnel, Underlay},
};
use stats::Random;

use super::{
    distribution::{between, chance, pick},
    parameter::{duration, given, limit, nanos, percent, rate},
    scale::Scale,
};

/// Common line rates, kbit/s: modems, DSL, cable, mobile, Ethernet.
const COMMON: [f64; 21] = [
    512.0, 1e3, 2e3, 4e3, 6e3, 8e3, 10e3, 16e3, 20e3, 25e3, 30e3, 50e3, 75e3, 100e3, 150e3, 200e3,
    250e3, 300e3, 500e3, 1e6, 2.5e6,
];
/// Slowest and fastest rate, kbit/s.
const RATES: (f64, f64) = (256.0, 2.5e6);
/// Above this rate, kbit/s, a draw is accepted with a probability inversely proportional to the
/// rate, because the cost of a lab run is proportional to it.
const CHEAP: f64 = 150e3;
/// Shortest and longest RTT, ms.
const RTTS: (f64, f64) = (0.3, 600.0);
/// Largest bandwidth-delay product, bytes: a longer slow start than a short plan allows.
const MAX_BDP: f64 = 6e6;
/// Minimum MTU of an IPv6 link, bytes.
const MIN_V6: u32 = 1280;

/// Draws the path.
pub(super) fn draw(random: &mut Random, path: &mut Path) -> Scale {
    let scale = line(random, &mut path.underlay);
    queues(random, &scale, &mut path.underlay);
    for direction in [Direction::Down, Direction::Up] {
        nuisances(random, &scale, path.underlay.line_mut(direction));
    }
    ends(random, &mut path.ends);
    if chance(random, 0.35) {
        tunnel(random, &scale, path);
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
fn line(random: &mut Random, underlay: &mut Underlay) -> Scale {
    let down = line_rate(random);
    let up = match chance(random, 0.5) {
        true => down,
        false => (down * between(random, 0.05, 1.0)).max(RATES.0),
    };
    let rtt_ms = between(random, RTTS.0, RTTS.1)
        .min(MAX_BDP * 8.0 / down)
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
    let rtt = duration(rtt_ms);
    // The odd nanosecond is added, as in a spec with the RTT.
    underlay.down.delay_ns = given((rtt / 2).into());
    underlay.up.delay_ns = given((rtt - rtt / 2).into());
    underlay.down.rate_bps = limit(rate(down));
    underlay.up.rate_bps = limit(rate(up));
    underlay.mtu_bytes = given(mtu);
    if v6 {
        underlay.ip = given(IpVersion::V6);
    }
    Scale {
        kbit: [down.round(), up.round()],
        rtt_ms,
        mtu,
        overhead: if v6 { 80 } else { 60 },
    }
}

/// The queues of both directions: the same kind on most paths.
fn queues(random: &mut Random, scale: &Scale, underlay: &mut Underlay) {
    let kind = |random: &mut Random| {
        pick(
            random,
            &[
                (Queue::Fifo, 56),
                (Queue::FqCodel, 14),
                (Queue::Cake, 9),
                (Queue::Codel, 5),
                (Queue::Pie, 5),
                (Queue::Fq, 5),
                (Queue::Red, 3),
                (Queue::Dualpi2, 3),
            ],
        )
    };
    let down = kind(random);
    let up = match chance(random, 0.6) {
        true => down,
        false => kind(random),
    };
    for (direction, queue) in [(Direction::Down, down), (Direction::Up, up)] {
        let line = underlay.line_mut(direction);
        line.queue = given(queue);
        if !queue.has_own_limit() {
            // Enough for cubic at short delays, and little enough for latency.
            let ms = between(random, 8.0, 28.0);
            line.buffer = given(Buffer::Bytes(scale.buffer(direction, ms, 10)));
        }
    }
}

/// Adds properties of real paths without a cost: a little loss and delay variation.
fn nuisances(random: &mut Random, scale: &Scale, line: &mut Line) {
    if chance(random, 0.12) {
        let share = Parameter::given(percent(between(random, 0.0005, 0.02)));
        line.loss = Some(Loss::Random { share });
    }
    if chance(random, 0.12) {
        line.jitter_ns = nanos(scale.rtt_ms * between(random, 0.002, 0.02));
    }
}

/// The hosts, mostly with equal settings.
fn ends(random: &mut Random, ends: &mut Ends) {
    let cc = |random: &mut Random| pick(random, &[("cubic", 76), ("bbr", 16), ("reno", 8)]);
    let qdisc = |random: &mut Random| {
        let of = [
            (EndQdisc::FqCodel, 50),
            (EndQdisc::Fq, 34),
            (EndQdisc::Fifo, 8),
            (EndQdisc::Noqueue, 5),
            (EndQdisc::Cake, 3),
        ];
        pick(random, &of)
    };
    let same = chance(random, 0.75);
    let (mut far, mut near) = (cc(random), cc(random));
    if same {
        near = far;
    } else if far == near {
        far = "bbr";
    }
    ends.far.cc = given(far.to_owned());
    ends.near.cc = given(near.to_owned());
    ends.far.qdisc = given(qdisc(random));
    ends.near.qdisc = given(qdisc(random));
    if chance(random, 0.15) {
        ends.far.ecn = given(true);
        ends.near.ecn = given(true);
    }
}

/// A tunnel whose packets fit the path.
pub(super) fn tunnel(random: &mut Random, scale: &Scale, path: &mut Path) {
    let most = scale.mtu - scale.overhead;
    let mtu = match pick(random, &[("exact", 5), ("usual", 4), ("small", 3)]) {
        "exact" => most,
        "usual" => most.min(1420),
        _ => most.min(1280),
    };
    let tunnel = path.tunnel.get_or_insert_with(Tunnel::default);
    tunnel.mtu_bytes = given(mtu);
    let places = [(TunnelAt::Ends, 3), (TunnelAt::Routers, 1)];
    tunnel.at = given(pick(random, &places));
    if mtu >= MIN_V6 && chance(random, 0.15) {
        tunnel.ip = given(IpVersion::V6);
    }
}
