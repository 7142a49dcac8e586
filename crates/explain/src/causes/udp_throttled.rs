//! Throttled UDP.

use analysis::view::{DirectionView, Load};
use model::{
    findings::{Severity, Value},
    net::Layer,
    remedy::{Action, TunnelMode},
    text,
};

use super::{others::may_have_dropped, rate};
use crate::{
    bound,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Ratio of TCP to UDP above which UDP counts as throttled.
const MORE: f64 = 1.5;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::UDP_THROTTLED,
    title: "the path delivers less UDP than TCP",
    severity: Severity::High,
    needs: &[Need::Sweep, Need::Tcp],
    masked_by: &[
        CauseCode::UDP_SOCKET_DROPS,
        CauseCode::HOST_QUEUE_DROPS,
        CauseCode::FQ_FLOW_LIMIT,
        CauseCode::CPU_CORE,
        CauseCode::CPU_SOFTIRQ,
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Elsewhere,
        why: "a network between the ends treats the protocols differently; the ends can only choose the protocol",
        actions,
    },
    about: "Some networks limit UDP, or all UDP but that of known services. A WireGuard tunnel is \
        UDP, so everything in it is limited. It shows on the underlay: TCP to the same host is \
        much faster than UDP at any rate.",
    sources: &[
        "porech/engarde#68: UDP collapses after seconds, TCP is fine",
        "tailscale/tailscale#11371; xtaci/kcptun#776",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Tunnel {
        mode: TunnelMode::OtherPort,
    }]
}

fn test(dir: &DirectionView) -> Verdict {
    // The tunnel itself is UDP, so traffic in it is not conclusive; the protocols are compared on
    // the underlay.
    let outside = match dir.view.layer {
        Layer::Underlay => *dir,
        Layer::Tunnel => match dir.underlay() {
            Some(below) => below,
            None => return undecided(Need::Below.missing(), Need::Below.settle()),
        },
    };
    let best = outside
        .loads()
        .into_iter()
        .filter(|l| l.flows <= 1 || outside.default_load().is_some_and(|p| p.flows == l.flows))
        .max_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps));
    let (Some(tcp), Some(sweep)) = (best, outside.sweep()) else {
        return undecided(
            text!("TCP and UDP were not both measured on the underlay"),
            text!("the same plan on both layers"),
        );
    };
    if sweep.above.is_none() {
        return ruled_out(text!(
            "UDP was not tested above {capacity} and lost nothing below",
            capacity = rate(sweep.capacity_bps)
        ));
    }
    // A queue may temporarily drop UDP that far exceeds its share: the highest delivered rate
    // counts.
    let most = sweep.most_received_bps().max(sweep.capacity_bps);
    let ratio = outside.packets_bps(&tcp) / most.max(1.0);
    if ratio < MORE {
        return ruled_out(text!(
            "UDP reaches {capacity}, TCP {goodput}",
            capacity = rate(most),
            goodput = rate(tcp.goodput_bps)
        ));
    }
    if let Some(varies) = outside.view.idle_drift_us() {
        return may_have_dropped(varies);
    }
    let evidence = evidence(&tcp, most, &sweep.samples, ratio);
    let text = text!(
        "on the same path, TCP reaches {goodput} and UDP at most {capacity}",
        goodput = rate(tcp.goodput_bps),
        capacity = rate(most)
    );
    confirmed(Strength::of(&[ratio > 2.0, tcp.flows <= 1]), text, evidence)
}

fn evidence(
    tcp: &Load,
    udp_bps: f64,
    samples: &[u32],
    ratio: f64,
) -> Vec<model::findings::EvidenceItem> {
    vec![
        figure(text!("TCP / UDP on the path"), Value::Ratio(ratio))
            .bound(bound::at_least(Value::Count(MORE)))
            .decisive(),
        figure(text!("goodput of TCP"), Value::Bps(tcp.goodput_bps)).samples(&tcp.samples),
        figure(text!("maximum UDP rate"), Value::Bps(udp_bps)).samples(samples),
    ]
}
