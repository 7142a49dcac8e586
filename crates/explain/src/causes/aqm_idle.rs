//! Queue management on devices where no queue forms.

use analysis::view::DirectionView;
use model::{
    findings::Severity,
    remedy::{Action, Bottleneck, Flow},
    text,
};

use super::own_queue;
use crate::{
    cause::{Cause, CauseCode, On, Remedies, Test},
    scope::{Scope, device},
    verdict::{Verdict, end},
};

/// Queue disciplines with queue management.
const MANAGED: [&str; 7] = [
    "fq_codel", "codel", "cake", "pie", "fq_pie", "dualpi2", "red",
];

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::AQM_IDLE,
    title: "queue management on a device where no queue forms",
    severity: Severity::Info,
    needs: &[],
    masked_by: &[],
    depends_on: &[CauseCode::BUFFERBLOAT_REMOTE],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "a queue forms only in front of the slowest link, and that is not this device",
        actions,
    },
    about: "fq_codel, cake or dualpi2 on a device that is faster than the line behind it never \
        sees a queue: it neither drops nor marks, and the delay arises elsewhere. ECN on the ends \
        then has no effect, either. Recipes that put such a queue on a cloud host without a shaper \
        show the effect of whatever else they change.",
    sources: &[
        "L4STeam/linux#32: no marks because the bottleneck is somewhere else",
        "docs/cases/3-narrow.md: unshaped, five queues and ECN agree",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![scope.shaper(device(scope.sender()), Flow::Egress, Bottleneck::Queue)]
}

fn test(dir: &DirectionView) -> Verdict {
    own_queue::is_of(dir, &MANAGED, None, |sender, queue| {
        text!(
            "the {host}'s device has {kind}, but the delay arises behind it",
            host = end(sender.side),
            kind = &queue.kind
        )
    })
}
