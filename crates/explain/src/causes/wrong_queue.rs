//! Bottleneck devices with an unmanaged queue.

use analysis::view::DirectionView;
use model::{
    findings::Severity,
    remedy::{Action, Discipline},
    text,
};

use super::own_queue;
use crate::{
    cause::{Cause, CauseCode, On, Remedies, Test},
    scope::{Scope, device},
    verdict::Verdict,
};

/// Queue disciplines that do not limit delay.
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
    code: CauseCode::WRONG_QUEUE,
    title: "the bottleneck device has an unmanaged queue",
    severity: Severity::Low,
    needs: &[],
    masked_by: &[],
    depends_on: &[CauseCode::BUFFERBLOAT_LOCAL],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "this host's device is slower than the traffic it is offered",
        actions,
    },
    about: "A first-in, first-out queue delays everything by its backlog. `fq` separates flows but \
        does not limit the delay of each: it is made for pacing a host's own TCP, not for a narrow \
        uplink. `mq` has the default queue below it.",
    sources: &[
        "tc-fq(8): mostly used for locally generated traffic",
        "Linux Documentation/admin-guide/sysctl/net.rst: default_qdisc",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![Action::Queue {
        device: device(scope.sender()),
        queue: Discipline::FqCodel,
    }]
}

fn test(dir: &DirectionView) -> Verdict {
    own_queue::is_of(dir, &PLAIN, Some(text!("fq_codel or cake")), |_, queue| {
        text!(
            "its queue is {kind}, which does not limit delay",
            kind = &queue.kind
        )
    })
}
