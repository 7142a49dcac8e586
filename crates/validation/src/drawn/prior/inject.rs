//! Faults that are added to a path. Each may turn out to cost nothing there.

use std::fmt::Write as _;

use model::net::Direction;
use stats::Random;

use super::{Keys, Scale, base, between, chance, directions, duration, percent, pick, rate};

/// The kinds of faults, with their weights.
const KINDS: [(Kind, usize); 12] = [
    (Kind::Loss, 22),
    (Kind::DeepBuffer, 17),
    (Kind::Policer, 8),
    (Kind::ReceiveWindow, 9),
    (Kind::SendBuffer, 8),
    (Kind::Jitter, 7),
    (Kind::Reorder, 6),
    (Kind::TunnelMtu, 7),
    (Kind::Shaper, 7),
    (Kind::Neighbour, 12),
    (Kind::ShortBuffer, 3),
    (Kind::Duplicate, 1),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Loss,
    DeepBuffer,
    Policer,
    ReceiveWindow,
    SendBuffer,
    Jitter,
    Reorder,
    TunnelMtu,
    Shaper,
    Neighbour,
    ShortBuffer,
    Duplicate,
}

/// Draws one fault.
pub(super) fn draw(random: &mut Random, scale: &Scale, keys: &mut Keys) {
    let kind = pick(random, &KINDS);
    let directions = directions(random);
    match kind {
        Kind::Neighbour => return neighbour(random, scale, keys),
        Kind::TunnelMtu => return tunnel_mtu(random, scale, keys),
        _ => {}
    }
    for &direction in directions {
        line_or_end(kind, random, scale, direction, keys);
    }
}

/// A fault of one direction, or of the host that sends or receives in it.
fn line_or_end(
    kind: Kind,
    random: &mut Random,
    scale: &Scale,
    direction: Direction,
    keys: &mut Keys,
) {
    let line = |key: &str| format!("path.{direction}.{key}");
    let (sender, receiver) = match direction {
        Direction::Down => ("server", "client"),
        Direction::Up => ("client", "server"),
    };
    // A socket needs more than a packet; 16 kB is the smallest that a system has by default.
    let window = |share: f64| format!("{}B", (scale.bdp(direction) * share).max(16e3) as u64);
    match kind {
        Kind::Loss => {
            let text = loss(random);
            // Periodic loss always comes after the bottleneck.
            let first = chance(random, 0.1) && !text.starts_with("every");
            keys.text(&line("loss"), &text);
            keys.plain(&line("faults_first"), first);
        }
        Kind::DeepBuffer => {
            let bytes = scale.buffer(direction, between(random, 40.0, 1500.0), 20);
            keys.text(&line("queue"), "fifo");
            keys.text(&line("buffer"), &format!("{bytes}B"));
        }
        Kind::Policer => {
            let bytes = scale.buffer(direction, between(random, 2.0, 60.0), 10);
            keys.text(&line("queue"), "policer");
            keys.text(&line("buffer"), &format!("{bytes}B"));
        }
        Kind::ShortBuffer => {
            let packets = 2 + random.below(7);
            keys.text(&line("queue"), "fifo");
            keys.text(&line("buffer"), &format!("{packets}p"));
        }
        Kind::ReceiveWindow => {
            let share = between(random, 0.1, 2.0);
            keys.text(&format!("ends.{receiver}.rmem"), &window(share));
        }
        Kind::SendBuffer => {
            let share = between(random, 0.1, 2.0);
            keys.text(&format!("ends.{sender}.wmem"), &window(share));
        }
        Kind::Jitter => {
            let jitter = scale.rtt_ms * between(random, 0.02, 0.45);
            keys.text(&line("jitter"), &duration(jitter));
        }
        Kind::Reorder => keys.text(&line("reorder"), &percent(between(random, 0.05, 3.0))),
        Kind::Duplicate => keys.text(&line("duplicate"), &percent(between(random, 0.1, 3.0))),
        Kind::Shaper => {
            let share = between(random, 0.1, 0.98);
            let shape = rate((scale.kbit(direction) * share).max(128.0));
            let qdiscs = [("fq_codel", 4), ("fq", 2), ("cake", 2), ("fifo", 2)];
            keys.text(&format!("ends.{sender}.shape"), &shape);
            keys.text(&format!("ends.{sender}.qdisc"), pick(random, &qdiscs));
        }
        Kind::Neighbour | Kind::TunnelMtu => {}
    }
}

/// Independent, in bursts of 1.25 to 5 packets, or every n-th packet.
fn loss(random: &mut Random) -> String {
    let share = between(random, 0.02, 5.0);
    match pick(random, &[("random", 66), ("bursts", 26), ("every", 8)]) {
        "random" => percent(share),
        "every" => format!("every {}", (100.0 / share).round() as u64),
        _ => {
            // The mean length of a burst is 1 / r, the share of bad packets p / (p + r).
            let end = between(random, 20.0, 80.0);
            let start = end * share / (100.0 - share);
            format!("gemodel({}, {})", percent(start), percent(end))
        }
    }
}

/// Flows of somebody else on the same line.
fn neighbour(random: &mut Random, scale: &Scale, keys: &mut Keys) {
    for &direction in directions(random) {
        let mut cross = format!("direction = \"{direction}\"\n");
        // Writing to a String cannot fail.
        let _ = match chance(random, 0.7) {
            true => writeln!(
                cross,
                "kind = \"tcp\"\nflows = {}\ncc = \"{}\"",
                1 + random.below(6),
                pick(random, &[("cubic", 3), ("bbr", 1)])
            ),
            false => writeln!(
                cross,
                // Fits an IPv6 tunnel over the smallest MTU.
                "kind = \"udp\"\npayload = 1000\nrate = \"{}\"",
                rate((scale.kbit(direction) * between(random, 0.05, 0.9)).max(16.0))
            ),
        };
        keys.cross.push(cross);
    }
}

/// A tunnel of which full packets do not fit the path: by 1 to all of its overhead.
fn tunnel_mtu(random: &mut Random, scale: &Scale, keys: &mut Keys) {
    base::tunnel(random, scale, keys);
    let most = scale.mtu - scale.overhead;
    let excess = 1 + random.below(scale.overhead as usize) as u32;
    keys.plain("tunnel.mtu", most + excess);
}
