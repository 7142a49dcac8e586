//! UDP gets much less than TCP on the same path.

use model::{
    findings::{RemedyClass, Severity, Value},
    row::Layer,
};

use super::rate;
use crate::{
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
    view::{Load, Way},
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
    test: Test::Way(test),
    remedy: Advice {
        class: RemedyClass::AvoidLimit,
        what: "try another UDP port for the tunnel; if all are slow, a tunnel over TCP or one that looks \
            like it (Phantun, udp2raw), and ask who runs the line",
        on: On::Elsewhere,
        why: "a network between the ends treats the protocols differently; the ends can only choose what \
            they send",
    },
    about: "Some networks limit UDP, or all UDP but that of known services. A WireGuard tunnel is UDP, so all \
        in it is limited. It shows beside the tunnel: TCP to the same host is much faster than UDP at any \
        rate.",
    sources: &[
        "porech/engarde#68: UDP collapses after seconds, TCP is fine",
        "tailscale/tailscale#11371; xtaci/kcptun#776",
    ],
};

fn test(way: &Way) -> Verdict {
    // The tunnel itself is UDP: what is in it does not tell. Beside it, the two protocols are compared.
    let outside = match way.view.layer {
        Layer::Underlay => *way,
        Layer::Tunnel => match way.below() {
            Some(below) => below,
            None => return unknown(Need::Below.missing(), Need::Below.settle()),
        },
    };
    let best = outside
        .loads()
        .into_iter()
        .filter(|l| l.flows <= 1 || outside.plain().is_some_and(|p| p.flows == l.flows))
        .max_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps));
    let (Some(tcp), Some(sweep)) = (best, outside.sweep()) else {
        return unknown(
            "TCP and UDP were not both measured beside the tunnel",
            "the same plan on both layers",
        );
    };
    if sweep.above.is_none() {
        return not(format!(
            "UDP was not tried beyond {} and lost nothing for it",
            rate(sweep.capacity_bps)
        ));
    }
    let ratio = tcp.goodput_bps / sweep.capacity_bps;
    if ratio < MORE {
        return not(format!(
            "UDP gets {}, TCP {}",
            rate(sweep.capacity_bps),
            rate(tcp.goodput_bps)
        ));
    }
    let evidence = evidence(&tcp, sweep.capacity_bps, &sweep.samples, ratio);
    let says = format!(
        "beside each other, TCP gets {} and UDP at most {}",
        rate(tcp.goodput_bps),
        rate(sweep.capacity_bps)
    );
    holds(Strength::of(&[ratio > 2.0, tcp.flows <= 1]), says, evidence)
}

fn evidence(
    tcp: &Load,
    udp_bps: f64,
    samples: &[u32],
    ratio: f64,
) -> Vec<model::findings::Exhibit> {
    vec![
        figure("TCP over UDP on the path", Value::Ratio(ratio))
            .against("at least 1.5")
            .deciding(),
        figure("goodput of TCP", Value::Bps(tcp.goodput_bps)).of(&tcp.samples),
        figure("most that UDP gets", Value::Bps(udp_bps)).of(samples),
    ]
}
