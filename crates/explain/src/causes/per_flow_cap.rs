//! Rate limits per flow.

use analysis::view::DirectionView;
use model::{
    findings::{Severity, Value},
    net::Layer,
    remedy::Action,
    text,
};

use super::rate;
use crate::{
    bound,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Minimum gain per flow, relative to one flow, of flows that do not share a limit.
const SCALES: f64 = 0.6;
/// Goodput of several TCP flows over that of one UDP flow from which a cap is on each flow.
const TOGETHER: f64 = 1.3;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::PER_FLOW_CAP,
    title: "each flow is limited individually",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::Sweep],
    masked_by: &[
        CauseCode::RECEIVE_WINDOW,
        CauseCode::SEND_BUFFER,
        CauseCode::RANDOM_LOSS,
        CauseCode::REORDERING,
        CauseCode::JITTER,
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Elsewhere,
        why: "the network limits by addresses and ports; nothing on the ends lifts the limit for a single flow",
        actions,
    },
    about: "Cloud networks and some carriers limit each flow (addresses, ports, protocol) \
        individually; 5 Gbit/s at one provider. One UDP flow has the same limit as one TCP flow, \
        with any congestion control, and several TCP flows reach several times as much. Small \
        windows and random loss scale with flows, too, but let a single UDP flow pass.",
    sources: &[
        "Amazon EC2 documentation, instance network bandwidth: 5 Gbit/s for a single flow",
        "WireGuard: all of a peer's packets are one UDP flow",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let dir = scope
        .direction_view()
        .map(|dir| dir.underlay().unwrap_or(dir));
    let many = dir.and_then(|dir| dir.parallel_load());
    vec![Action::MoreFlows {
        flows: many.map(|load| load.flows),
    }]
}

fn test(dir: &DirectionView) -> Verdict {
    // A tunnel is one flow to the network: a limit per flow shows on the underlay.
    let dir = &match dir.view.layer {
        Layer::Underlay => *dir,
        Layer::Tunnel => match dir.underlay() {
            Some(below) => below,
            None => return undecided(Need::Below.missing(), Need::Below.settle()),
        },
    };
    let (Some(load), Some(sweep)) = (dir.default_load(), dir.sweep()) else {
        return undecided(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let Some(many) = dir.parallel_load() else {
        return undecided(
            text!("several flows at once were not measured"),
            text!("a plan with a `tcp` step of 4 flows"),
        );
    };
    let times = f64::from(many.flows) / f64::from(load.flows);
    let Some(gain) = dir.gain(&many, &load) else {
        return undecided(Need::Tcp.missing(), Need::Tcp.settle());
    };
    if gain < SCALES * times {
        return ruled_out(text!(
            "{flows} flows reach {gain} times the goodput of {few}: they share a limit",
            flows = many.flows,
            gain = Value::Count(gain),
            few = load.flows
        ));
    }
    let over = dir.over_udp(&many).unwrap_or(0.0);
    if over < TOGETHER {
        return ruled_out(text!("several flows reach no more than one UDP flow"));
    }
    let filled = dir.over_udp(&load).unwrap_or(0.0);
    let evidence = vec![
        figure(
            text!("{many} flows / {few}", many = many.flows, few = load.flows),
            Value::Ratio(gain),
        )
        .bound(text!("close to the number of flows"))
        .samples(&many.samples)
        .decisive(),
        figure(
            text!("several TCP flows / one UDP flow"),
            Value::Ratio(over),
        )
        .bound(bound::above(Value::Count(TOGETHER)))
        .samples(&sweep.samples),
        figure(text!("one TCP flow / one UDP flow"), Value::Ratio(filled))
            .bound(text!("close to 1")),
    ];
    let text = text!(
        "one flow reaches {goodput} with TCP and with UDP, and {flows} flows reach {together}",
        goodput = rate(load.goodput_bps),
        flows = many.flows,
        together = rate(many.goodput_bps)
    );
    confirmed(
        Strength::of(&[filled > 0.8, gain > 0.8 * times]),
        text,
        evidence,
    )
}
