//! The fq queue cuts one flow off.

use analysis::view::Host;
use model::{
    findings::{RemedyClass, Severity, Value},
    remedy::{Action, LimitKind},
    text,
};

use super::{drops::drops, whole};
use crate::{
    advice::{Scope, device},
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

pub(super) const CAUSE: Cause = Cause {
    code: "fq-flow-limit",
    title: "fq drops what one flow has beyond 100 packets",
    severity: Severity::High,
    needs: &[Need::Tcp],
    masked_by: &[],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Advice {
        class: RemedyClass::QueueLimit,
        what: "give fq a flow_limit of 1000 or more, or use fq_codel or cake on this device",
        on: On::Here,
        why: "it is the queue of this host's device that drops",
        actions,
    },
    about: "fq keeps at most 100 packets of each flow. A userspace tunnel's UDP socket is one flow for all \
        that it carries, and so is forwarded traffic that hashes alike; a burst of more than 100 packets is \
        cut. The queue's own counter `flows_plimit` says so. fq is meant for the host's own TCP sockets, \
        which it paces.",
    sources: &[
        "tc-fq(8): flow_limit, 100 packets",
        "cilium/cilium#29083: thousands of drops, all of them flows_plimit",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![Action::QueueLimit {
        limit: LimitKind::FqFlow,
        device: device(scope.here()),
        packets: 1000,
    }]
}

fn test(host: &Host) -> Verdict {
    let samples = host.view().tcp_samples();
    let Some(found) = drops(host, &samples, "qdisc", &["flows_plimit"]) else {
        return unknown(
            text!("the counters of this host's queues were not read"),
            text!("the same plan with pathtwin on Linux at this end"),
        );
    };
    if found.lost == 0.0 {
        return not(text!("no flow went beyond the limit of an fq queue"));
    }
    if !found.explain() {
        return not(text!(
            "fq cut {lost} packets, few against what TCP sent again",
            lost = whole(found.lost)
        ));
    }
    let evidence = vec![
        figure(
            text!("packets beyond fq's limit for a flow"),
            Value::Count(found.lost),
        )
        .against(text!("none"))
        .on(host.side)
        .deciding(),
    ];
    let text = text!(
        "fq dropped {lost} packets because a flow had more than its limit",
        lost = whole(found.lost)
    );
    holds(Strength::of(&[true, found.share.is_some()]), text, evidence)
}
