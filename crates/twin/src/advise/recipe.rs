//! Candidates of a trial: the remedies of the findings, and well-known recipes.

use model::{
    advice::Origin,
    net::{Direction, Layer, Side},
    path::{Limit, Path},
    remedy::{Action, Bottleneck, Buffer, CcScope, Discipline, Flow, Location, Remedy, shaped_bps},
    text,
    text::{Text, Value},
    twin::Twin,
};

/// Buffers of recipes for "more throughput", bytes.
const LARGE_BUFFER: u64 = 64 << 20;
/// Buffers of the recipe for a full VPS, bytes.
const SMALL_BUFFER: u64 = 4 << 20;
/// Its limit of unsent data, bytes.
const LOWAT: u64 = 8192;
/// The MTU that every IPv6 link carries (RFC 8200 section 5), which forums advise as "safe".
const SAFE_MTU: u32 = 1280;

/// The kernel parameter of the queue of new devices.
pub(super) const DEFAULT_QUEUE: &str = "net.core.default_qdisc";

/// A candidate to try: one remedy, or several together.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) name: Text,
    pub(super) origin: Origin,
    pub(super) remedies: Vec<Remedy>,
}

/// All candidates; two of them may be equal changes.
pub(super) fn candidates(twin: &Twin) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = twin
        .remedies
        .iter()
        .map(|remedy| Candidate {
            name: name(&remedy.action),
            origin: Origin::Finding,
            remedies: vec![remedy.clone()],
        })
        .collect();
    for side in [Side::Far, Side::Near] {
        all.extend(of_host(&twin.path, side));
    }
    all.extend(mtu(&twin.path));
    all
}

/// Recipes for one host.
fn of_host(path: &Path, side: Side) -> Vec<Candidate> {
    let on = Location::from(side);
    let one = |action: Action, origin| Candidate {
        name: name(&action),
        origin,
        remedies: vec![recipe(action, on)],
    };
    let several = |name, actions: Vec<Action>| Candidate {
        name,
        origin: Origin::Recipe,
        remedies: actions.into_iter().map(|a| recipe(a, on)).collect(),
    };
    let queue = |queue| Action::Queue {
        device: None,
        queue,
    };
    let buffers = |bytes| [Buffer::Receive, Buffer::Send].map(|b| buffer(b, bytes));
    let full_vps = [
        default_queue("dualpi2"),
        congestion("bbr"),
        Action::Ecn { on: true },
        Action::NotsentLowat { bytes: LOWAT },
    ];
    let mut all = vec![
        one(congestion("bbr"), Origin::Recipe),
        several(
            text!("bbr and fq"),
            vec![congestion("bbr"), queue(Discipline::Fq)],
        ),
        several(
            text!("the recipe for a full VPS"),
            full_vps.into_iter().chain(buffers(SMALL_BUFFER)).collect(),
        ),
        one(default_queue("dualpi2"), Origin::Part),
        one(Action::Ecn { on: true }, Origin::Part),
        one(Action::NotsentLowat { bytes: LOWAT }, Origin::Part),
        several(
            text!(
                "buffers of {bytes}",
                bytes = Value::Bytes(SMALL_BUFFER as f64)
            ),
            buffers(SMALL_BUFFER).into(),
        ),
        several(
            text!(
                "buffers of {bytes}",
                bytes = Value::Bytes(LARGE_BUFFER as f64)
            ),
            buffers(LARGE_BUFFER).into(),
        ),
        one(queue(Discipline::FqCodel), Origin::Recipe),
    ];
    all.extend(shapers(path, side).map(|action| one(action, Origin::Recipe)));
    all
}

/// What a direction carries, bit/s of IP packets.
pub(super) fn capacity_bps(path: &Path, direction: Direction) -> Option<f64> {
    match path.underlay.line(direction).rate_bps.as_ref()?.value {
        Limit::At(rate) => Some(path.wire(Layer::Underlay).ip_bps(rate)),
        Limit::Unlimited => None,
    }
}

/// Egress and ingress shapers of a host.
fn shapers(path: &Path, side: Side) -> impl Iterator<Item = Action> {
    let directions = [Direction::Down, Direction::Up];
    let rate = |direction| capacity_bps(path, direction).map(shaped_bps);
    let all: Vec<Action> = directions
        .into_iter()
        .filter_map(|direction| Some((direction, rate(direction)?)))
        .flat_map(|(direction, bps)| {
            let shaper = |queue, flow| Action::Shaper {
                device: None,
                rate_bps: Some(bps),
                queue,
                flow,
                direction,
                below: Bottleneck::Queue,
            };
            match Side::sends(direction) == side {
                true => vec![
                    shaper(Discipline::Cake, Flow::Egress),
                    shaper(Discipline::FqCodel, Flow::Egress),
                ],
                false => vec![shaper(Discipline::Cake, Flow::Ingress)],
            }
        })
        .collect();
    all.into_iter()
}

/// A "safe" MTU, where it is smaller than now.
fn mtu(path: &Path) -> Option<Candidate> {
    let action = match &path.tunnel {
        Some(tunnel) => {
            let now = tunnel.mtu_bytes.as_ref().map_or(1420, |p| p.value);
            (now > SAFE_MTU).then_some(Action::TunnelMtu {
                device: None,
                bytes: Some(SAFE_MTU),
            })
        }
        None => {
            let now = path.underlay.mtu_bytes.as_ref().map_or(1500, |p| p.value);
            (now > SAFE_MTU).then_some(Action::LinkMtu {
                device: None,
                bytes: SAFE_MTU,
            })
        }
    }?;
    Some(Candidate {
        name: name(&action),
        origin: Origin::Recipe,
        remedies: vec![recipe(action, Location::Near)],
    })
}

fn recipe(action: Action, on: Location) -> Remedy {
    Remedy::new(action, on, text!("a recipe that is often copied"))
}

/// Returns the recipe's action: the queue of all devices, without a shaper.
fn default_queue(queue: &str) -> Action {
    Action::Sysctl {
        name: DEFAULT_QUEUE.to_owned(),
        value: queue.to_owned(),
    }
}

fn congestion(cc: &str) -> Action {
    Action::CongestionControl {
        cc: cc.to_owned(),
        scope: CcScope::Host,
    }
}

fn buffer(buffer: Buffer, bytes: u64) -> Action {
    Action::SocketBuffer {
        buffer,
        keep: None,
        max_bytes: Some(bytes),
    }
}

/// An action in a few words.
pub(super) fn name(action: &Action) -> Text {
    match action {
        Action::CongestionControl { cc, .. } => Text::name(cc.as_str()),
        Action::Shaper {
            rate_bps: Some(bps),
            queue,
            flow,
            ..
        } => {
            let (rate, queue) = (Value::Bps(*bps as f64), queue.name());
            match flow {
                Flow::Egress => text!("{queue} at {rate}", queue = queue, rate = rate),
                Flow::Ingress => text!("{queue} at {rate}, ingress", queue = queue, rate = rate),
            }
        }
        Action::Queue { queue, .. } => text!("{queue}, no shaper", queue = queue.name()),
        Action::Sysctl { name, value } if name == DEFAULT_QUEUE => {
            text!("{queue}, no shaper", queue = value)
        }
        Action::SocketBuffer {
            buffer,
            max_bytes: Some(bytes),
            ..
        } => text!(
            "{buffer} up to {bytes}",
            buffer = match buffer {
                Buffer::Receive => "tcp_rmem",
                Buffer::Send => "tcp_wmem",
            },
            bytes = Value::Bytes(*bytes as f64)
        ),
        Action::NotsentLowat { bytes } => {
            text!("notsent_lowat {bytes}", bytes = Value::Bytes(*bytes as f64))
        }
        Action::Ecn { on: true } => text!("ECN"),
        Action::TunnelMtu {
            bytes: Some(bytes), ..
        } => text!("tunnel MTU {mtu}", mtu = *bytes),
        Action::LinkMtu { bytes, .. } => text!("MTU {mtu}", mtu = *bytes),
        other => other.sentence(),
    }
}
