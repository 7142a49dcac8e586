//! Faults of the segment between the near end and the third point.

use analysis::view::DirectionView;
use model::{findings::Severity, remedy::Action, text};

use super::segment::{self, Place};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::Verdict,
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::LOCAL_SEGMENT,
    title: "delay or loss arises between this host and the third point",
    severity: Severity::Low,
    needs: &[Need::Idle, Need::Tcp, Need::LoadedProbes, Need::Third],
    masked_by: &[],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Elsewhere,
        why: "it arises on the way to the third point: in this host's radio or cable, or in the router's queue toward this host",
        actions,
    },
    about: "Probes to a third point (`measure --third`) run beside the load. What the load adds to \
        their round trip, and what is lost of them, arises before the third point: with the own \
        router as third point, on the Wi-Fi or cable at home and not on the provider's line. The \
        other causes say what it is; this one says where.",
    sources: &[
        "Zoxc/crusader#69: latency to a peer on the local net beside that to a server",
        "RFC 6298 section 2; RFC 792: probes by SYN and by echo",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Measure {
        what: text!("the same plan over a cable to the third point"),
    }]
}

fn test(dir: &DirectionView) -> Verdict {
    segment::test(dir, Place::Near)
}
