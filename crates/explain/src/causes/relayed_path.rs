//! The tunnel goes through a relay.

use analysis::view::View;
use model::{
    facts::{Product, TunnelKind, TunnelPath},
    findings::{RemedyClass, Severity, Value},
    net::{Layer, Side},
    remedy::{Action, TunnelMode},
    run::Invalid,
    text,
    text::Text,
};

use super::time;
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown, worded},
};

/// Added round trip from which the tunnel takes another way than the path below it, µs ...
const DETOUR_US: f64 = 10_000.0;
/// ... and as a share.
const DETOUR: f64 = 1.3;

pub(super) const CAUSE: Cause = Cause {
    code: "relayed-path",
    title: "the tunnel goes through a relay",
    severity: Severity::High,
    needs: &[],
    masked_by: &[],
    depends_on: &[],
    test: Test::Path(test),
    remedy: Advice {
        class: RemedyClass::DirectConnection,
        what: "get a direct connection: let UDP out and in, a fixed port, IPv6, or NAT-PMP; if it must be a \
            relay, one close to both ends",
        on: On::Elsewhere,
        why: "it is the firewalls and NATs in front of the two ends that prevent a direct connection; \
            congestion control of the ends acts only within the tunnel, and a relay over TCP has its \
            own",
        actions,
    },
    about: "When two peers of a mesh VPN cannot reach each other, their packets go through a relay: a longer \
        way, a shared server, and often TCP inside TCP. The tunnel's own status says so; without it, a \
        round trip through the tunnel that is much longer than the one beside it does. Everything else \
        that is measured through a relay describes the relay, so this comes first.",
    sources: &[
        "netbirdio/netbird#3740: 58 to 94 direct, 3 to 13 Mbit/s relayed",
        "tailscale/tailscale#7989: 10 direct, 1 MB/s relayed",
        "netbirdio/netbird: relay/server/listener (WebSocket or QUIC)",
    ],
};

/// What to do, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Tunnel {
        mode: TunnelMode::Direct,
    }]
}

fn test(view: &View) -> Verdict {
    let tunnels: Vec<_> = [Side::Near, Side::Far]
        .into_iter()
        .filter_map(|side| Some((side, view.host(side).tunnel()?)))
        .collect();
    let detour = detour(view);
    for (side, tunnel) in &tunnels {
        if tunnel.path == Some(TunnelPath::Relayed) {
            let relay = match &tunnel.relay {
                Some(relay) => Value::from(relay),
                None => text!("a relay").into(),
            };
            let mut evidence = vec![
                worded(text!("connection to the peer"), text!("relayed"))
                    .against(text!("direct"))
                    .on(*side)
                    .deciding(),
            ];
            if let Some((inside, outside)) = detour {
                evidence.push(figure(text!("round trip in the tunnel"), Value::Us(inside)));
                evidence.push(figure(text!("round trip beside it"), Value::Us(outside)));
            }
            let text = text!("packets to the peer go through {relay}", relay = relay);
            return holds(Strength::Strong, text, evidence);
        }
    }
    if let Some(changed) = relay_appeared(view) {
        let text = text!(
            "while measuring, the tunnel went {changed}",
            changed = changed.clone()
        );
        let evidence = vec![worded(text!("connection to the peer"), changed).deciding()];
        return holds(Strength::Fair, text, evidence);
    }
    if tunnels
        .iter()
        .any(|(_, t)| t.path == Some(TunnelPath::Direct))
    {
        return not(text!(
            "the tunnel's status says that the connection is direct"
        ));
    }
    let plain = |t: &model::facts::TunnelFacts| {
        t.kind == TunnelKind::KernelWireguard && t.product == Product::None
    };
    if let Some((inside, outside)) = detour {
        if inside - outside > DETOUR_US && inside > DETOUR * outside {
            let evidence = vec![
                figure(text!("round trip in the tunnel"), Value::Us(inside))
                    .against(text!("close to that beside it"))
                    .deciding(),
                figure(text!("round trip beside it"), Value::Us(outside)),
            ];
            let text = text!(
                "the tunnel takes {inside}, the path beside it {outside}: another way",
                inside = time(inside),
                outside = time(outside)
            );
            return holds(Strength::Weak, text, evidence).settled_by(text!(
                "the status of the tunnel (netbird status, tailscale status)"
            ));
        }
        if inside <= DETOUR * outside {
            return not(text!(
                "the round trip in the tunnel, {inside}, is that of the path, {outside}",
                inside = time(inside),
                outside = time(outside)
            ));
        }
        if !tunnels.iter().any(|(_, t)| plain(t)) {
            return unknown(
                text!(
                    "the round trip is {inside} in the tunnel and {outside} beside it, which a relay nearby or the \
                     tunnel's own work may add",
                    inside = time(inside),
                    outside = time(outside)
                ),
                text!(
                    "the status of the tunnel while packets pass (netbird status, tailscale status)"
                ),
            );
        }
    }
    if tunnels.iter().any(|(_, t)| plain(t)) {
        return not(text!("WireGuard by itself goes straight to its endpoint"));
    }
    match view.layer {
        Layer::Underlay if tunnels.is_empty() && view.host(Side::Near).path_known() => {
            not(text!("there is no tunnel on this path"))
        }
        _ => unknown(
            text!("neither the tunnel's status nor the path below it is known"),
            Need::Below.settle(),
        ),
    }
}

/// Round trips without load in the tunnel and beside it, µs.
fn detour(view: &View) -> Option<(f64, f64)> {
    Some((view.idle()?.p50_us, view.underlay()?.idle()?.p50_us))
}

/// Whether samples were spoiled because the connection changed.
fn relay_appeared(view: &View) -> Option<Text> {
    view.invalid_reasons().find_map(|why| match why {
        Invalid::RelayChanged { before, after } => Some(text!(
            "from {before} to {after}",
            before = connection(before),
            after = connection(after)
        )),
        _ => None,
    })
}

/// A way to the peer as samples name it.
fn connection(way: &str) -> Text {
    match (way, way.strip_prefix("relayed through ")) {
        ("direct", _) => text!("direct"),
        ("relayed", _) => text!("relayed"),
        (_, Some(relay)) => text!("relayed through {relay}", relay = relay),
        (name, None) => Text::name(name),
    }
}
