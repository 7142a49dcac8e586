//! Drops by fq's flow limit.

use analysis::view::Host;
use model::{
    evidence::CounterKind,
    findings::{Severity, Value},
    remedy::{Action, LimitKind},
    text,
};

use super::{drops::drops, whole};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::{Scope, device},
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::FQ_FLOW_LIMIT,
    title: "fq drops packets of a flow beyond 100 queued",
    severity: Severity::High,
    needs: &[Need::Tcp],
    masked_by: &[],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "the queue of this host's device drops the packets",
        actions,
    },
    about: "fq keeps at most 100 packets of each flow. To fq, a userspace tunnel's UDP socket is \
        one flow, and so is forwarded traffic with the same hash; bursts beyond 100 packets are \
        dropped. The queue's counter `flows_plimit` shows it. fq is meant for the host's own TCP \
        sockets, which it paces.",
    sources: &[
        "tc-fq(8): flow_limit, 100 packets",
        "cilium/cilium#29083: thousands of drops, all of them flows_plimit",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![Action::QueueLimit {
        limit: LimitKind::FqFlow,
        device: device(scope.here()),
        packets: 1000,
    }]
}

fn test(host: &Host) -> Verdict {
    let kind = CounterKind::FlowLimitDrops;
    let all = host.counter_increase(&host.view().tcp_samples(), kind);
    let Some((all, found)) = all.zip(drops(host, kind)) else {
        return undecided(
            text!("the counters of this host's queues were not read"),
            text!("the same plan with pathtwin on Linux as this end"),
        );
    };
    if all == 0.0 {
        return ruled_out(text!("no flow exceeded the flow limit of an fq queue"));
    }
    if found.lost == 0.0 {
        return ruled_out(text!(
            "fq dropped packets of a flow only while another congestion control was tried"
        ));
    }
    if !found.explain() {
        return ruled_out(text!(
            "fq dropped {lost} packets, few compared with TCP's retransmissions",
            lost = whole(found.lost)
        ));
    }
    let evidence = vec![
        figure(
            text!("packets dropped by fq's flow limit"),
            Value::Count(found.lost),
        )
        .bound(text!("none"))
        .end(host.side)
        .decisive(),
    ];
    let text = text!(
        "fq dropped {lost} packets because a flow exceeded its limit",
        lost = whole(found.lost)
    );
    confirmed(Strength::of(&[true, found.share.is_some()]), text, evidence)
}
