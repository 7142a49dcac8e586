//! Userspace TCP/IP stacks.

use analysis::view::Host;
use model::{
    facts::TunnelKind,
    findings::{Severity, Value},
    remedy::{Action, TunnelMode},
    text,
    text::Text,
};

use super::{FULL, percent};
use crate::{
    cause::{Cause, CauseCode, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, text_figure, undecided},
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::USERSPACE_TCP_STACK,
    title: "TCP runs in user space, not in the kernel",
    severity: Severity::High,
    needs: &[],
    masked_by: &[CauseCode::RELAYED_PATH],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "its connections belong to a library in the VPN's process; sysctls of either host, including congestion control, have no effect on them",
        actions,
    },
    about: "Without a tun device a VPN carries connections with its own TCP/IP stack in user space \
        (gVisor's netstack). That stack has its own congestion control (Tailscale sets Reno), its \
        own buffers and its own loss recovery, and each has been a bottleneck. The kernel has no \
        sockets of the flow, and changing the kernel's congestion control changes nothing: bbr and \
        cubic give the same.",
    sources: &[
        "tailscale/tailscale wgengine/netstack/netstack.go: Reno, commit 62182fc37",
        "tailscale/tailscale#20893: 22 to 45 against 180 Mbit/s; #17993, pull 12994",
        "netbirdio/netbird pull 6808",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Tunnel {
        mode: TunnelMode::Device,
    }]
}

fn test(host: &Host) -> Verdict {
    let view = host.view();
    let Some(tunnel) = host.tunnel() else {
        return if host.path_known() {
            ruled_out(text!("there is no tunnel on this path"))
        } else {
            undecided(
                text!("the tunnel's implementation is not known"),
                text!("facts of this host, taken as root"),
            )
        };
    };
    if tunnel.kind == TunnelKind::Unknown {
        return undecided(
            text!("the tunnel's implementation is not known"),
            text!("facts of this host, taken as root"),
        );
    }
    if tunnel.kind != TunnelKind::Netstack {
        return ruled_out(text!(
            "TCP is terminated in the kernel; the tunnel is {kind}",
            kind = name(tunnel.kind)
        ));
    }
    let mut evidence = vec![
        text_figure(text!("tunnel"), text!("userspace TCP/IP stack"))
            .end(host.side)
            .decisive(),
    ];
    let mut slow = false;
    let mut same = false;
    for dir in view.directions() {
        let Some(load) = dir.default_load() else {
            continue;
        };
        if let Some(filled) = dir.utilization(&load) {
            slow |= filled < FULL;
            evidence.push(figure(
                text!("share of the capacity used"),
                Value::Share(filled),
            ));
        }
        if let Some(other) = dir
            .loads()
            .iter()
            .find(|l| l.cc != load.cc && l.flows == load.flows)
            && let Some(ratio) = dir.gain(other, &load)
        {
            same |= (0.85..1.18).contains(&ratio);
            evidence.push(
                figure(
                    text!("{cc} / {own}", cc = &other.cc, own = &load.cc),
                    Value::Ratio(ratio),
                )
                .bound(text!(
                    "close to 1: the kernel's congestion control has no effect"
                )),
            );
        }
    }
    let text = text!("this end's connections belong to the VPN's own process");
    let verdict = confirmed(Strength::of(&[true, slow, same]), text, evidence);
    if slow {
        verdict
    } else {
        verdict.at(Severity::Info)
    }
}

/// Name of a tunnel's implementation in sentences.
pub(super) fn name(kind: TunnelKind) -> Text {
    match kind {
        TunnelKind::KernelWireguard => text!("the kernel's WireGuard"),
        TunnelKind::WireguardGo => text!("wireguard-go"),
        TunnelKind::Boringtun => text!("BoringTun"),
        TunnelKind::Netstack => text!("a userspace TCP/IP stack"),
        TunnelKind::Openvpn => text!("OpenVPN"),
        TunnelKind::OtherTun => text!("a process on a tun device"),
        TunnelKind::Plain => text!("an unencrypted kernel tunnel"),
        TunnelKind::Unknown => text!("unknown"),
    }
}

/// Goodput of the tunnel over that of its underlay, the lower of both directions.
pub(super) fn kept(host: &Host) -> Option<f64> {
    let directions = host.view().directions();
    let kept = directions
        .iter()
        .filter_map(analysis::view::DirectionView::kept);
    kept.reduce(f64::min)
}

/// The same as text.
pub(super) fn kept_text(kept: f64) -> Text {
    text!(
        "TCP in the tunnel reaches {kept} of its goodput on the underlay",
        kept = percent(kept)
    )
}
