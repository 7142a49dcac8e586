//! Relayed tunnels.

use analysis::view::View;
use model::{
    facts::{Product, TunnelKind, TunnelPath},
    findings::{Severity, Value},
    net::{Layer, Side},
    remedy::{Action, TunnelMode},
    run::Invalid,
    text,
    text::Text,
};

use super::time;
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, text_figure, undecided},
};

/// RTT increase above which the tunnel takes a different route than its underlay, µs ...
const DETOUR_US: f64 = 10_000.0;
/// ... and as a ratio.
const DETOUR: f64 = 1.3;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::RELAYED_PATH,
    title: "the tunnel goes through a relay",
    severity: Severity::High,
    needs: &[],
    masked_by: &[],
    depends_on: &[],
    test: Test::Path(test),
    remedy: Remedies {
        on: On::Elsewhere,
        why: "firewalls and NATs in front of the two ends prevent a direct connection; congestion control of the ends acts only within the tunnel, and a relay over TCP has its own",
        actions,
    },
    about: "When two peers of a mesh VPN cannot reach each other directly, their packets pass \
        through a relay: a longer path, a shared server, and often TCP inside TCP. The tunnel's \
        status shows it; without that, an RTT in the tunnel much longer than on the underlay does. \
        Everything else that is measured through a relay describes the relay, so this comes \
        first.",
    sources: &[
        "netbirdio/netbird#3740: 58 to 94 direct, 3 to 13 Mbit/s relayed",
        "tailscale/tailscale#7989: 10 direct, 1 MB/s relayed",
        "netbirdio/netbird: relay/server/listener (WebSocket or QUIC)",
    ],
};

/// Returns the actions, with the values of the Run.
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
                text_figure(text!("connection to the peer"), text!("relayed"))
                    .bound(text!("direct"))
                    .end(*side)
                    .decisive(),
            ];
            if let Some((inside, outside)) = detour {
                evidence.push(figure(text!("RTT in the tunnel"), Value::Us(inside)));
                evidence.push(figure(text!("RTT on the underlay"), Value::Us(outside)));
            }
            let text = text!("packets to the peer pass through {relay}", relay = relay);
            return confirmed(Strength::Strong, text, evidence);
        }
    }
    if let Some(changed) = relay_appeared(view) {
        let text = text!(
            "during the measurement, the tunnel changed {changed}",
            changed = changed.clone()
        );
        let evidence = vec![text_figure(text!("connection to the peer"), changed).decisive()];
        let verdict = confirmed(Strength::Fair, text, evidence);
        return match is_direct_again(view) {
            true => verdict.at(Severity::Low),
            false => verdict,
        };
    }
    if tunnels
        .iter()
        .any(|(_, t)| t.path == Some(TunnelPath::Direct))
    {
        return ruled_out(text!("the tunnel's status shows a direct connection"));
    }
    // A tunnel that was idle before and after the measurement may have been relayed during it.
    if tunnels
        .iter()
        .any(|(_, t)| t.path == Some(TunnelPath::Idle))
    {
        return undecided(
            text!("the tunnel was idle when its status was read, before and after the measurement"),
            text!("the status of the tunnel while packets pass (netbird status, tailscale status)"),
        );
    }
    let plain = |t: &model::facts::TunnelFacts| {
        t.kind == TunnelKind::KernelWireguard && t.product == Product::None
    };
    if let Some((inside, outside)) = detour {
        if inside - outside > DETOUR_US && inside > DETOUR * outside {
            let evidence = vec![
                figure(text!("RTT in the tunnel"), Value::Us(inside))
                    .bound(text!("close to that of the underlay"))
                    .decisive(),
                figure(text!("RTT on the underlay"), Value::Us(outside)),
            ];
            let text = text!(
                "the RTT in the tunnel is {inside}, on the underlay {outside}: a different route",
                inside = time(inside),
                outside = time(outside)
            );
            return confirmed(Strength::Weak, text, evidence).settled_by(text!(
                "the status of the tunnel (netbird status, tailscale status)"
            ));
        }
        if inside <= DETOUR * outside {
            return ruled_out(text!(
                "the RTT in the tunnel, {inside}, matches that of the path, {outside}",
                inside = time(inside),
                outside = time(outside)
            ));
        }
        if !tunnels.iter().any(|(_, t)| plain(t)) {
            return undecided(
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
        return ruled_out(text!("plain WireGuard connects directly to its endpoint"));
    }
    match view.layer {
        Layer::Underlay if tunnels.is_empty() && view.host(Side::Near).path_known() => {
            ruled_out(text!("there is no tunnel on this path"))
        }
        _ => undecided(
            text!("neither the tunnel's status nor the path below it is known"),
            Need::Below.settle(),
        ),
    }
}

/// Idle RTT in the tunnel and on the underlay, µs.
fn detour(view: &View) -> Option<(f64, f64)> {
    Some((view.idle()?.p50_us, view.underlay()?.idle()?.p50_us))
}

/// Returns true if the tunnel was direct before and after the measurement. Tailscale sends to the
/// relay, too, while an endpoint has not answered for some seconds, as under a load that fills the
/// path; what was measured meanwhile does not count, and the rest is of a direct connection.
fn is_direct_again(view: &View) -> bool {
    let hosts = [Side::Near, Side::Far].map(|side| view.host(side));
    let mut known = hosts
        .iter()
        .filter_map(|host| Some([host.tunnel()?.path, host.tunnel_after()?.path]))
        .peekable();
    let direct = Some(TunnelPath::Direct);
    known.peek().is_some() && known.all(|both| both == [direct; 2])
}

/// The change of connection that made samples invalid, if any.
fn relay_appeared(view: &View) -> Option<Text> {
    view.invalid_reasons().find_map(|why| match why {
        Invalid::RelayChanged { before, after } => Some(text!(
            "from {before} to {after}",
            before = before.text(),
            after = after.text()
        )),
        _ => None,
    })
}
