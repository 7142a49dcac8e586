//! Faults to add to a path. Each may turn out to have no cost there.

use model::{
    cell::{Buffer, EndQdisc, Queue},
    net::{Direction, Side},
    path::{Competitor, CompetitorKind, Loss, Parameter, Path},
    units::{Bytes, Share},
};
use stats::Random;

use super::{
    base,
    distribution::{between, chance, directions, pick},
    parameter::{given, limit, nanos, percent, rate},
    scale::Scale,
};

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

/// The queues inside a shaper, with their weights.
const SHAPED: [(EndQdisc, usize); 4] = [
    (EndQdisc::FqCodel, 4),
    (EndQdisc::Fq, 2),
    (EndQdisc::Cake, 2),
    (EndQdisc::Fifo, 2),
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
pub(super) fn draw(random: &mut Random, scale: &Scale, path: &mut Path) {
    let kind = pick(random, &KINDS);
    let directions = directions(random);
    match kind {
        Kind::Neighbour => return neighbour(random, scale, path),
        Kind::TunnelMtu => return tunnel_mtu(random, scale, path),
        _ => {}
    }
    for &direction in directions {
        line_or_end(kind, random, scale, direction, path);
    }
}

/// A fault of one direction, or of the host that sends or receives in it.
fn line_or_end(
    kind: Kind,
    random: &mut Random,
    scale: &Scale,
    direction: Direction,
    path: &mut Path,
) {
    let line = path.underlay.line_mut(direction);
    let (sender, receiver) = (Side::sends(direction), Side::receives(direction));
    // A socket needs more than a packet; 16 kB is the smallest that a system has by default.
    let window = |share: f64| limit(Bytes((scale.bdp(direction) * share).max(16e3) as u64));
    let buffer = |bytes| given(Buffer::Bytes(bytes));
    match kind {
        Kind::Loss => {
            let loss = loss(random);
            // Periodic loss always comes after the bottleneck.
            let first = chance(random, 0.1) && !matches!(loss, Loss::Every { .. });
            line.loss = Some(loss);
            line.faults_first = given(first);
        }
        Kind::DeepBuffer => {
            let ms = between(random, 40.0, 1500.0);
            line.queue = given(Queue::Fifo);
            line.buffer = buffer(scale.buffer(direction, ms, 20));
        }
        Kind::Policer => {
            let ms = between(random, 2.0, 60.0);
            line.queue = given(Queue::Policer);
            line.buffer = buffer(scale.buffer(direction, ms, 10));
        }
        Kind::ShortBuffer => {
            line.queue = given(Queue::Fifo);
            line.buffer = given(Buffer::Packets(2 + random.below(7) as u32));
        }
        Kind::ReceiveWindow => {
            path.ends.end_mut(receiver).rmem_bytes = window(between(random, 0.1, 2.0));
        }
        Kind::SendBuffer => {
            path.ends.end_mut(sender).wmem_bytes = window(between(random, 0.1, 2.0));
        }
        Kind::Jitter => line.jitter_ns = nanos(scale.rtt_ms * between(random, 0.02, 0.45)),
        Kind::Reorder => line.reorder = given(percent(between(random, 0.05, 3.0))),
        Kind::Duplicate => line.duplicate = given(percent(between(random, 0.1, 3.0))),
        Kind::Shaper => {
            let share = between(random, 0.1, 0.98);
            let end = path.ends.end_mut(sender);
            end.shape_bps = limit(rate((scale.kbit(direction) * share).max(128.0)));
            end.qdisc = given(pick(random, &SHAPED));
        }
        Kind::Neighbour | Kind::TunnelMtu => {}
    }
}

/// Independent, in bursts of 1.25 to 5 packets, or every n-th packet.
fn loss(random: &mut Random) -> Loss {
    let share = between(random, 0.02, 5.0);
    let parameter = |share: f64| Parameter::given(percent(share));
    match pick(random, &[("random", 66), ("bursts", 26), ("every", 8)]) {
        "random" => Loss::Random {
            share: parameter(share),
        },
        "every" => Loss::Every {
            packets: Parameter::given((100.0 / share).round() as u16),
        },
        _ => {
            // The mean length of a burst is 1 / r, the share of bad packets p / (p + r).
            let end = between(random, 20.0, 80.0);
            Loss::Bursts {
                p: parameter(end * share / (100.0 - share)),
                r: parameter(end),
                bad: Parameter::given(Share::ONE),
                good: Parameter::given(Share::ZERO),
            }
        }
    }
}

/// Flows of others on the same line.
fn neighbour(random: &mut Random, scale: &Scale, path: &mut Path) {
    for &direction in directions(random) {
        let flows = match chance(random, 0.7) {
            true => Competitor {
                kind: given(CompetitorKind::Tcp),
                flows: given(1 + random.below(6) as u32),
                cc: given(pick(random, &[("cubic", 3), ("bbr", 1)]).to_owned()),
                ..Competitor::default()
            },
            false => {
                let share = between(random, 0.05, 0.9);
                Competitor {
                    kind: given(CompetitorKind::Udp),
                    // Fits an IPv6 tunnel over the smallest MTU.
                    payload_bytes: given(1000),
                    rate_bps: given(rate((scale.kbit(direction) * share).max(16.0))),
                    ..Competitor::default()
                }
            }
        };
        path.competitors.push(Competitor {
            direction: given(direction.into()),
            ..flows
        });
    }
}

/// A tunnel whose full packets are too large for the path by 1 byte up to its overhead.
fn tunnel_mtu(random: &mut Random, scale: &Scale, path: &mut Path) {
    base::tunnel(random, scale, path);
    let most = scale.mtu - scale.overhead;
    let excess = 1 + random.below(scale.overhead as usize) as u32;
    if let Some(tunnel) = &mut path.tunnel {
        tunnel.mtu_bytes = given(most + excess);
    }
}
