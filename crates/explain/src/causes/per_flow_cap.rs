//! Each flow gets a part of the line and no more.

use analysis::view::DirectionView;
use model::{
    findings::{RemedyClass, Severity, Value},
    net::Layer,
    remedy::Action,
    text,
};

use super::rate;
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

/// Several flows over one, for each flow, from which they do not share one limit.
const SCALES: f64 = 0.6;

pub(super) const CAUSE: Cause = Cause {
    code: "per-flow-cap",
    title: "each flow is limited for itself",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::Sweep],
    masked_by: &[
        "receive-window",
        "send-buffer",
        "random-loss",
        "reordering",
        "jitter",
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::MoreFlows,
        what: "use several connections, and beside each other several tunnels on different ports: a tunnel \
            is one flow to the network",
        on: On::Elsewhere,
        why: "the limit is the network's, by addresses and ports; nothing on the ends lifts it for one flow",
        actions,
    },
    about: "Cloud networks and some carriers limit each flow (addresses, ports, protocol) for itself; \
        5 Gbit/s at one provider. One UDP flow meets the same limit as one TCP flow, whatever the \
        congestion control, and several TCP flows get several times as much. Small windows and random \
        loss scale with flows, too, but let a single UDP flow pass.",
    sources: &[
        "Amazon EC2 documentation, instance network bandwidth: 5 Gbit/s for a single flow",
        "WireGuard: all of a peer's packets are one UDP flow",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let way = scope.way().map(|way| way.underlay().unwrap_or(way));
    let many = way.and_then(|way| way.parallel_load());
    vec![Action::MoreFlows {
        flows: many.map(|load| load.flows),
    }]
}

fn test(way: &DirectionView) -> Verdict {
    // A tunnel is one flow to the network: that flows are limited shows beside it.
    let way = &match way.view.layer {
        Layer::Underlay => *way,
        Layer::Tunnel => match way.underlay() {
            Some(below) => below,
            None => return unknown(Need::Below.missing(), Need::Below.settle()),
        },
    };
    let (Some(load), Some(sweep)) = (way.default_load(), way.sweep()) else {
        return unknown(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let Some(many) = way.parallel_load() else {
        return unknown(
            text!("several flows at once were not measured"),
            text!("a plan with a `tcp` step of 4 flows"),
        );
    };
    let times = f64::from(many.flows) / f64::from(load.flows);
    let gain = many.goodput_bps / load.goodput_bps;
    if gain < SCALES * times {
        return not(text!(
            "{flows} flows get {gain} times what {few} gets: they share a limit",
            flows = many.flows,
            gain = format!("{gain:.2}"),
            few = load.flows
        ));
    }
    let over = many.goodput_bps / sweep.capacity_bps;
    if over < 1.3 {
        return not(text!("several flows get no more than one flow of UDP"));
    }
    let filled = way.utilization(&load).unwrap_or(0.0);
    let evidence = vec![
        figure(
            text!(
                "{many} flows over {few}",
                many = many.flows,
                few = load.flows
            ),
            Value::Ratio(gain),
        )
        .against(text!("close to the number of flows"))
        .of(&many.samples)
        .deciding(),
        figure(
            text!("several flows of TCP over one of UDP"),
            Value::Ratio(over),
        )
        .against(text!("above 1.3"))
        .of(&sweep.samples),
        figure(
            text!("one flow of TCP over one of UDP"),
            Value::Ratio(filled),
        )
        .against(text!("close to 1")),
    ];
    let text = text!(
        "one flow gets {goodput}, of TCP and of UDP, and {flows} flows get {together}",
        goodput = rate(load.goodput_bps),
        flows = many.flows,
        together = rate(many.goodput_bps)
    );
    holds(
        Strength::of(&[filled > 0.8, gain > 0.8 * times]),
        text,
        evidence,
    )
}
