//! Userspace tunnels.

use analysis::view::Host;
use model::{
    facts::TunnelKind,
    findings::{Severity, Value},
    remedy::{Action, TunnelMode},
    text,
};

use super::userspace_tcp_stack::{kept, kept_text, name};
use crate::{
    bound,
    cause::{Cause, CauseCode, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, text_figure, undecided},
};

/// Share of the underlay's goodput below which the tunnel is costly.
const COSTS: f64 = 0.7;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::USERSPACE_TUNNEL,
    title: "the tunnel's packets pass through user space",
    severity: Severity::Medium,
    needs: &[],
    masked_by: &[CauseCode::RELAYED_PATH, CauseCode::USERSPACE_TCP_STACK],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "each packet is copied to the process and back on this host; the other end may use another implementation",
        actions,
    },
    about: "wireguard-go, BoringTun and OpenVPN read each packet from a tun device, encrypt it and \
        send it on a UDP socket. That costs copies and wake-ups, serialises work on few threads, \
        and merges all connections into one flow, so that fair queues below cannot separate them. \
        The kernel's WireGuard is 1.5 to 4 times as fast on the same processor. It matters where \
        the processor is the limit, and not on a line that is slower than that.",
    sources: &[
        "tailscale/tailscale#10524: 90 (kernel) against 20 Mbit/s on a MIPS router",
        "netbirdio/netbird client/iface/iface_new_linux.go: choice of the implementation",
        "tohojo/sch_cake issue 141: the kernel's WireGuard keeps the inner flows' hash",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Tunnel {
        mode: TunnelMode::Kernel,
    }]
}

fn test(host: &Host) -> Verdict {
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
    match tunnel.kind.is_userspace() {
        None => {
            return undecided(
                text!("the tunnel's implementation is not known"),
                text!("facts of this host, taken as root"),
            );
        }
        Some(false) => return ruled_out(text!("the tunnel is {kind}", kind = name(tunnel.kind))),
        Some(true) if tunnel.kind == TunnelKind::Netstack => {
            return ruled_out(text!("the process contains the whole TCP/IP stack"));
        }
        Some(true) => {}
    }
    let mut evidence = vec![
        text_figure(text!("tunnel"), name(tunnel.kind))
            .end(host.side)
            .decisive(),
    ];
    let samples = host.view().tcp_samples();
    let process = host.tunnel_process(&samples);
    if let Some((share, threads, name)) = &process {
        evidence.push(
            figure(
                text!(
                    "processor share of its process {name}, threads: {threads}",
                    name = name,
                    threads = *threads
                ),
                Value::Share(*share),
            )
            .end(host.side),
        );
    }
    let kept = kept(host);
    let mut text = text!(
        "on this host the tunnel is {kind}",
        kind = name(tunnel.kind)
    );
    if let Some(kept) = kept {
        evidence.push(
            figure(
                text!("goodput / goodput of the underlay"),
                Value::Ratio(kept),
            )
            .bound(bound::at_least(Value::Count(COSTS))),
        );
        text = text!("{tunnel}; {kept}", tunnel = text, kept = kept_text(kept));
    }
    let busy = process.is_some_and(|(share, ..)| share > 0.7);
    let costs = kept.is_some_and(|k| k < COSTS);
    let verdict = confirmed(Strength::of(&[true, busy, costs]), text, evidence);
    if costs && busy {
        verdict
    } else {
        verdict.at(Severity::Info)
    }
}
