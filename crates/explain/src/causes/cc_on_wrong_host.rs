//! Congestion control configured on a host that does not send.

use analysis::{models, view::DirectionView};
use model::{
    findings::{Severity, Value},
    remedy::Action,
    text,
};

use crate::{
    cause::{Cause, CauseCode, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, end, figure, ruled_out, undecided},
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::CC_ON_WRONG_HOST,
    title: "another congestion control is set on a host that does not send",
    severity: Severity::Low,
    needs: &[],
    masked_by: &[],
    depends_on: &[
        CauseCode::SHALLOW_QUEUE,
        CauseCode::RANDOM_LOSS,
        CauseCode::JITTER,
    ],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "congestion control is part of a sending socket: a receiver, and a router that only forwards, \
            has no such socket of the flow",
        actions,
    },
    about: "Setting bbr on a router, or on the receiving end, has no effect on flows that only \
        pass through or end there. It can seem to help: when the test ran on the router itself, \
        when a proxy or relay ends TCP there, when the same recipe changed the queue, or when a \
        reboot changed the path.",
    sources: &[
        "Linux net/ipv4/tcp_cong.c: the algorithm belongs to the socket",
        "forum.openwrt.org, BBR on routers: only connections that end at the router",
        "docs/cases/1-dorm.md: bbr at the receiver changes no digit",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let set = scope.receiver().and_then(|host| host.default_cc());
    vec![scope.send_with(set.as_deref().unwrap_or("bbr"))]
}

fn test(dir: &DirectionView) -> Verdict {
    let (Some(sends), Some(receives)) = (
        dir.default_load().map(|l| l.cc),
        dir.receiver().default_cc(),
    ) else {
        return undecided(
            text!("the congestion controls of both hosts are not known"),
            text!("facts of both hosts"),
        );
    };
    if !models::is_loss_based(&sends) || models::is_loss_based(&receives) {
        return ruled_out(text!(
            "the sender uses {sends}, the receiver's default is {receives}",
            sends = sends.as_str(),
            receives = receives.as_str()
        ));
    }
    let (from, to) = (dir.sender().side, dir.receiver().side);
    let evidence = vec![
        figure(
            text!("congestion control of the sender's socket"),
            Value::Name(sends.clone()),
        )
        .end(from)
        .decisive(),
        figure(
            text!("congestion control set on the receiver"),
            Value::Name(receives.clone()),
        )
        .end(to),
    ];
    let text = text!(
        "the {to} is set to {receives}, but the {from} is the sender, with {sends}",
        to = end(to),
        receives = receives,
        from = end(from),
        sends = sends
    );
    confirmed(Strength::Strong, text, evidence)
}
