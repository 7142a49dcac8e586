//! The reference of remedies, `docs/reference/remedies.md`, generated from examples of every
//! action.

use std::fmt::Write;

use super::{
    Action, Bottleneck, Buffer, CcScope, Dialect, Discipline, Flow, LimitKind, Location, Processor,
    Remedy, RemedyClass, RouteTo, TunnelMode, commands,
};
use crate::{net::Direction, path::Path, text, text::Text};

/// One or more remedies of every kind of action, with values as a Run would give them.
pub fn examples() -> Vec<Remedy> {
    let all = queues()
        .into_iter()
        .chain(sockets())
        .chain(hosts())
        .chain(others());
    all.map(|(on, action)| Remedy::new(action, on, Text::plain("an example")))
        .collect()
}

fn device(name: &str) -> Option<String> {
    Some(name.to_owned())
}

fn queues() -> Vec<(Location, Action)> {
    let shaper = |queue, flow, direction, below| Action::Shaper {
        device: device("eth0"),
        rate_bps: Some(47_500_000),
        queue,
        flow,
        direction,
        below,
    };
    let limit = |limit, packets| Action::QueueLimit {
        limit,
        device: device("eth0"),
        packets,
    };
    use Location::{Far, Near, Router};
    vec![
        (
            Router,
            shaper(
                Discipline::Cake,
                Flow::Egress,
                Direction::Up,
                Bottleneck::Queue,
            ),
        ),
        (
            Near,
            shaper(
                Discipline::Cake,
                Flow::Ingress,
                Direction::Down,
                Bottleneck::Queue,
            ),
        ),
        (
            Near,
            shaper(
                Discipline::FqCodel,
                Flow::Egress,
                Direction::Up,
                Bottleneck::Queue,
            ),
        ),
        (
            Far,
            shaper(
                Discipline::Cake,
                Flow::Egress,
                Direction::Down,
                Bottleneck::Policer,
            ),
        ),
        (
            Far,
            Action::Queue {
                device: device("eth0"),
                queue: Discipline::FqCodel,
            },
        ),
        (Far, limit(LimitKind::FqFlow, 1000)),
        (Near, limit(LimitKind::Backlog, 4000)),
        (Near, limit(LimitKind::ReceiveRing, 4096)),
        (Near, limit(LimitKind::DeviceQueue, 1000)),
        (
            Near,
            Action::RemoveShaper {
                device: device("eth0"),
                queue: Some("tbf".to_owned()),
                rate_bps: Some(10_000_000),
            },
        ),
    ]
}

fn sockets() -> Vec<(Location, Action)> {
    let cc = |scope| Action::CongestionControl {
        cc: "bbr".to_owned(),
        scope,
    };
    let buffer = |buffer| Action::SocketBuffer {
        buffer,
        keep: None,
        max_bytes: Some(12_500_000),
    };
    let to = RouteTo {
        toward: std::net::Ipv4Addr::new(192, 0, 2, 7).into(),
        via: Some(std::net::Ipv4Addr::new(198, 51, 100, 1).into()),
        device: device("eth0"),
        source: None,
        table: None,
    };
    use Location::{Far, Near};
    vec![
        (Far, cc(CcScope::Socket)),
        (Far, cc(CcScope::Route(to))),
        (Far, cc(CcScope::Host)),
        (Near, buffer(Buffer::Receive)),
        (Far, buffer(Buffer::Send)),
        (
            Near,
            Action::FreeBuffer {
                buffer: Buffer::Receive,
            },
        ),
        (
            Far,
            Action::FreeBuffer {
                buffer: Buffer::Send,
            },
        ),
        (Near, Action::UdpBuffer { bytes: 7 << 20 }),
        (Far, Action::Ecn { on: true }),
        (Far, Action::NotsentLowat { bytes: 131_072 }),
        (Far, Action::MtuProbing),
    ]
}

fn hosts() -> Vec<(Location, Action)> {
    use Location::{Elsewhere, Far, Near, Router};
    vec![
        (
            Elsewhere,
            Action::TunnelMtu {
                device: device("wg0"),
                bytes: Some(1340),
            },
        ),
        (
            Near,
            Action::LinkMtu {
                device: device("eth0"),
                bytes: 1400,
            },
        ),
        (Router, Action::MssClamp { bytes: None }),
        (Router, Action::MssClamp { bytes: Some(1300) }),
        (
            Far,
            Action::Offload {
                device: device("eth0"),
                feature: "tx-udp-segmentation".to_owned(),
                on: false,
            },
        ),
        (
            Near,
            Action::ReceiveSteering {
                device: device("eth0"),
                cpus: Some(4),
            },
        ),
        (
            Near,
            Action::DeviceQueues {
                device: device("eth0"),
                count: 4,
            },
        ),
        (
            Near,
            Action::Sysctl {
                name: "net.ipv4.tcp_sack".to_owned(),
                value: "1".to_owned(),
            },
        ),
    ]
}

fn others() -> Vec<(Location, Action)> {
    use Location::{Elsewhere, Far, Near};
    let tunnel = |mode| Action::Tunnel { mode };
    vec![
        (Elsewhere, Action::Keep),
        (
            Near,
            Action::Relieve {
                by: Processor::Anything,
            },
        ),
        (
            Near,
            Action::Relieve {
                by: Processor::TunnelThread,
            },
        ),
        (Near, tunnel(TunnelMode::Kernel)),
        (Near, tunnel(TunnelMode::Device)),
        (Elsewhere, tunnel(TunnelMode::Direct)),
        (Elsewhere, tunnel(TunnelMode::OtherPort)),
        (Elsewhere, Action::MoreFlows { flows: Some(4) }),
        (Far, Action::FeedSender),
        (Elsewhere, Action::KeepOrder),
        (Near, Action::Radio),
        (
            Elsewhere,
            Action::AskProvider {
                request: text!("to shape instead of policing"),
            },
        ),
        (
            Elsewhere,
            Action::Measure {
                what: text!("against a server that is known to send with bbr"),
            },
        ),
        (
            Elsewhere,
            Action::FreeText {
                class: RemedyClass::Line,
                what: Text::plain("text of an older document"),
            },
        ),
    ]
}

/// The page.
pub fn reference() -> String {
    let mut out = String::from(
        "# Remedies\n\n<!-- Made from the code; `UPDATE_DOCS=1 cargo test -p pathtwin-model` \
         regenerates it. -->\n\n A remedy is data: an action with parameters, a location (`near`, \
         `far`, `router` or `elsewhere`) and the reason for the location. `explain` computes the \
         parameters from the run. In a document it also has its sentence (`what`), its kind \
         (`class`) and the commands for Linux (`commands`), which are derived from the action. A \
         word in angle brackets in a command is unknown to the run.\n\n Below is an example of \
         every action, with what the lab makes of it.\n",
    );
    for remedy in examples() {
        one(&mut out, &remedy);
    }
    out
}

fn one(out: &mut String, remedy: &Remedy) {
    let written = serde_json::to_value(&remedy.action).unwrap_or_default();
    let kind = written["kind"].as_str().unwrap_or_default();
    let trial = match remedy.apply(&Path::named("example")) {
        Ok(_) => "can be tried on a lab path".to_owned(),
        Err(error) => format!("cannot be tried on an empty lab path: {error}"),
    };
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "\n## `{kind}`\n\n{}: {}.\n\n```json\n{written}\n```\n\nIt {trial}.\n",
        remedy.on,
        remedy.sentence()
    );
    let linux = commands(remedy, Dialect::Linux);
    let openwrt = commands(remedy, Dialect::OpenWrt);
    if !linux.is_empty() {
        let _ = write!(out, "\n```sh\n{}\n```\n", linux.join("\n"));
    }
    if openwrt != linux {
        let _ = write!(out, "\nOn OpenWrt:\n\n```sh\n{}\n```\n", openwrt.join("\n"));
    }
}
