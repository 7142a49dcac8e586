//! A TCP/IP stack in a process.

use analysis::view::Host;
use model::{
    facts::TunnelKind,
    findings::{RemedyClass, Severity, Value},
    remedy::{Action, TunnelMode},
    text,
    text::Text,
};

use super::{FULL, percent};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown, worded},
};

pub(super) const CAUSE: Cause = Cause {
    code: "userspace-tcp-stack",
    title: "TCP runs in a process, not in the kernel",
    severity: Severity::High,
    needs: &[],
    masked_by: &["relayed-path"],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Advice {
        class: RemedyClass::TunnelSoftware,
        what: "let the VPN use a tun device or the kernel's WireGuard (Tailscale: not \
            --tun=userspace-networking; NetBird: not NB_USE_NETSTACK_MODE), or update it",
        on: On::Here,
        why: "its connections are those of a library in the VPN's process; sysctls of this host or the \
            other, congestion control among them, do not reach it",
        actions,
    },
    about: "Without a tun device a VPN carries connections with a TCP/IP stack of its own inside its process \
        (gVisor's netstack). That stack has its own congestion control (Tailscale sets Reno), its own \
        buffers and its own loss recovery, and each has been a bottleneck. The kernel knows no socket of \
        the flow, and changing the kernel's congestion control changes nothing: bbr and cubic give the same.",
    sources: &[
        "tailscale/tailscale wgengine/netstack/netstack.go: Reno, commit 62182fc37",
        "tailscale/tailscale#20893: 22 to 45 against 180 Mbit/s; #17993, pull 12994",
        "netbirdio/netbird pull 6808",
    ],
};

/// What to do, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Tunnel {
        mode: TunnelMode::Device,
    }]
}

fn test(host: &Host) -> Verdict {
    let view = host.view();
    let Some(tunnel) = host.tunnel() else {
        return if host.path_known() {
            not(text!("there is no tunnel on this path"))
        } else {
            unknown(
                text!("it is not known what moves the tunnel's packets"),
                text!("facts of this host, taken as root"),
            )
        };
    };
    if tunnel.kind == TunnelKind::Unknown {
        return unknown(
            text!("it is not known what moves the tunnel's packets"),
            text!("facts of this host, taken as root"),
        );
    }
    if tunnel.kind != TunnelKind::Netstack {
        return not(text!(
            "TCP ends in the kernel; the tunnel is {kind}",
            kind = name(tunnel.kind)
        ));
    }
    let mut evidence = vec![
        worded(text!("tunnel"), text!("TCP/IP stack in a process"))
            .on(host.side)
            .deciding(),
    ];
    let mut slow = false;
    let mut same = false;
    for way in view.directions() {
        let Some(load) = way.default_load() else {
            continue;
        };
        if let Some(filled) = way.utilization(&load) {
            slow |= filled < FULL;
            evidence.push(figure(
                text!("share of the path used"),
                Value::Share(filled),
            ));
        }
        if let Some(other) = way
            .loads()
            .iter()
            .find(|l| l.cc != load.cc && l.flows == load.flows)
        {
            let ratio = other.goodput_bps / load.goodput_bps;
            same |= (0.85..1.18).contains(&ratio);
            evidence.push(
                figure(
                    text!("{cc} over {own}", cc = &other.cc, own = &load.cc),
                    Value::Ratio(ratio),
                )
                .against(text!("close to 1: the kernel's has no effect")),
            );
        }
    }
    let text = text!("this end's connections are those of the VPN's own process");
    let verdict = holds(Strength::of(&[true, slow, same]), text, evidence);
    if slow {
        verdict
    } else {
        verdict.at(Severity::Info)
    }
}

/// What a tunnel is called in sentences.
pub(super) fn name(kind: TunnelKind) -> Text {
    match kind {
        TunnelKind::KernelWireguard => text!("the kernel's WireGuard"),
        TunnelKind::WireguardGo => text!("wireguard-go"),
        TunnelKind::Boringtun => text!("BoringTun"),
        TunnelKind::Netstack => text!("a TCP/IP stack in a process"),
        TunnelKind::Openvpn => text!("OpenVPN"),
        TunnelKind::OtherTun => text!("a process on a tun device"),
        TunnelKind::Plain => text!("a plain tunnel of the kernel"),
        TunnelKind::Unknown => text!("not known"),
    }
}

/// Goodput of the tunnel over that of the path below it, the lower of the directions.
pub(super) fn kept(host: &Host) -> Option<f64> {
    let ways = host.view().directions();
    let ratios = ways.iter().filter_map(|way| {
        let inside = way.default_load()?.goodput_bps;
        let outside = way.underlay()?.default_load()?.goodput_bps;
        Some(inside / outside)
    });
    ratios.reduce(f64::min)
}

/// The same in words.
pub(super) fn kept_text(kept: f64) -> Text {
    text!(
        "the tunnel gets {kept} of what TCP gets beside it",
        kept = percent(kept)
    )
}
