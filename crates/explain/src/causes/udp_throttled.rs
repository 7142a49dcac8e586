//! UDP gets much less than TCP on the same path.

use analysis::view::{DirectionView, Load};
use model::{
    findings::{RemedyClass, Severity, Value},
    net::Layer,
    remedy::{Action, TunnelMode},
    text,
};

use super::rate;
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

/// TCP over UDP from which UDP is throttled.
const MORE: f64 = 1.5;

pub(super) const CAUSE: Cause = Cause {
    code: "udp-throttled",
    title: "the path gives UDP less than TCP",
    severity: Severity::High,
    needs: &[Need::Sweep, Need::Tcp],
    masked_by: &[
        "udp-socket-drops",
        "host-queue-drops",
        "fq-flow-limit",
        "cpu-core",
        "cpu-softirq",
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::AvoidLimit,
        what: "try another UDP port for the tunnel; if all are slow, a tunnel over TCP or one that looks \
            like it (Phantun, udp2raw), and ask who runs the line",
        on: On::Elsewhere,
        why: "a network between the ends treats the protocols differently; the ends can only choose what \
            they send",
        actions,
    },
    about: "Some networks limit UDP, or all UDP but that of known services. A WireGuard tunnel is UDP, so all \
        in it is limited. It shows beside the tunnel: TCP to the same host is much faster than UDP at any \
        rate.",
    sources: &[
        "porech/engarde#68: UDP collapses after seconds, TCP is fine",
        "tailscale/tailscale#11371; xtaci/kcptun#776",
    ],
};

/// What to do, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Tunnel {
        mode: TunnelMode::OtherPort,
    }]
}

fn test(way: &DirectionView) -> Verdict {
    // The tunnel itself is UDP: what is in it does not tell. Beside it, the two protocols are
    // compared.
    let outside = match way.view.layer {
        Layer::Underlay => *way,
        Layer::Tunnel => match way.underlay() {
            Some(below) => below,
            None => return unknown(Need::Below.missing(), Need::Below.settle()),
        },
    };
    let best = outside
        .loads()
        .into_iter()
        .filter(|l| l.flows <= 1 || outside.default_load().is_some_and(|p| p.flows == l.flows))
        .max_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps));
    let (Some(tcp), Some(sweep)) = (best, outside.sweep()) else {
        return unknown(
            text!("TCP and UDP were not both measured beside the tunnel"),
            text!("the same plan on both layers"),
        );
    };
    if sweep.above.is_none() {
        return not(text!(
            "UDP was not tried beyond {capacity} and lost nothing for it",
            capacity = rate(sweep.capacity_bps)
        ));
    }
    let ratio = tcp.goodput_bps / sweep.capacity_bps;
    if ratio < MORE {
        return not(text!(
            "UDP gets {capacity}, TCP {goodput}",
            capacity = rate(sweep.capacity_bps),
            goodput = rate(tcp.goodput_bps)
        ));
    }
    let evidence = evidence(&tcp, sweep.capacity_bps, &sweep.samples, ratio);
    let text = text!(
        "beside each other, TCP gets {goodput} and UDP at most {capacity}",
        goodput = rate(tcp.goodput_bps),
        capacity = rate(sweep.capacity_bps)
    );
    holds(Strength::of(&[ratio > 2.0, tcp.flows <= 1]), text, evidence)
}

fn evidence(
    tcp: &Load,
    udp_bps: f64,
    samples: &[u32],
    ratio: f64,
) -> Vec<model::findings::EvidenceItem> {
    vec![
        figure(text!("TCP over UDP on the path"), Value::Ratio(ratio))
            .against(text!("at least 1.5"))
            .deciding(),
        figure(text!("goodput of TCP"), Value::Bps(tcp.goodput_bps)).of(&tcp.samples),
        figure(text!("most that UDP gets"), Value::Bps(udp_bps)).of(samples),
    ]
}
