//! Faults beyond the third point.

use analysis::view::DirectionView;
use model::{findings::Severity, remedy::Action, text};

use super::segment::{self, Place};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::Verdict,
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::BEYOND,
    title: "delay or loss arises beyond the third point",
    severity: Severity::Low,
    needs: &[Need::Idle, Need::Tcp, Need::LoadedProbes, Need::Third],
    masked_by: &[],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Elsewhere,
        why: "it arises behind the third point, which answers in time under the same load: the segment of this host has no part in it",
        actions,
    },
    about: "Probes to a third point (`measure --third`) run beside the load. What the load adds to the \
        round trip of the far end but not to that of the third point arises behind it: with the \
        own router as third point, on the provider's line or further away, and no cable instead of \
        Wi-Fi helps. The other causes say what it is; this one says where.",
    sources: &[
        "Zoxc/crusader#69: latency to a peer on the local net beside that to a server",
        "RFC 6298 section 2; RFC 792: probes by SYN and by echo",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Measure {
        what: text!("the same plan from the third point"),
    }]
}

fn test(dir: &DirectionView) -> Verdict {
    segment::test(dir, Place::Beyond)
}
