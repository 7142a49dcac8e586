//! The device that is the bottleneck has a queue without management.

use analysis::view::DirectionView;
use model::{
    findings::{RemedyClass, Severity},
    remedy::{Action, Discipline},
    text,
};

use super::own_queue;
use crate::{
    advice::{Scope, device},
    cause::{Advice, Cause, On, Test},
    verdict::Verdict,
};

/// Kinds that keep no delay down for what goes through them.
const PLAIN: [&str; 8] = [
    "pfifo_fast",
    "pfifo",
    "bfifo",
    "noqueue",
    "sfq",
    "tbf",
    "fq",
    "mq",
];

pub(super) const CAUSE: Cause = Cause {
    code: "wrong-queue",
    title: "the bottleneck's device has a queue without management",
    severity: Severity::Low,
    needs: &[],
    masked_by: &[],
    depends_on: &["bufferbloat-local"],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::QueueManagement,
        what: "tc qdisc replace dev ... root fq_codel (or cake), and net.core.default_qdisc for the next \
            boot",
        on: On::Sender,
        why: "it is this host's device that is slower than what it is given",
        actions,
    },
    about: "A first-in, first-out queue delays everything by as much as it holds. `fq` keeps flows apart but \
        lets each wait as long as it likes: it is made for pacing a host's own TCP, not for a narrow \
        uplink. `mq` has the default queue below it.",
    sources: &[
        "tc-fq(8): mostly used for locally generated traffic",
        "Linux Documentation/admin-guide/sysctl/net.rst: default_qdisc",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![Action::Queue {
        device: device(scope.sender()),
        queue: Discipline::FqCodel,
    }]
}

fn test(way: &DirectionView) -> Verdict {
    own_queue::is_of(way, &PLAIN, Some(text!("fq_codel or cake")), |_, queue| {
        text!(
            "its queue is {kind}, which keeps no delay down",
            kind = &queue.kind
        )
    })
}
