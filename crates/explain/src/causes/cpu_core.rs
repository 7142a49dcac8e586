//! Saturated processors.

use analysis::view::Host;
use model::{
    findings::Severity,
    remedy::{Action, Processor},
};

use super::cpu::{self, Busy};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::Verdict,
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::CPU_CORE,
    title: "a processor is fully busy",
    severity: Severity::High,
    needs: &[Need::Tcp],
    masked_by: &[CauseCode::RELAYED_PATH],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "it is this host's processor that is fully busy",
        actions,
    },
    about: "Each packet costs processor time. When one processor is saturated, goodput stops \
        growing: more flows gain nothing, UDP reaches the same limit as TCP, and another \
        congestion control gains nothing (BBR costs more than CUBIC because of pacing). The total \
        over all processors may look idle, because one flow stays on one processor.",
    sources: &[
        "kata-containers/packaging#1069: 37 (cubic), 20.8 (bbr) Gbit/s at a full processor",
        "tailscale/tailscale#13102: 3.2 to 10.3 Gbit/s by a larger MTU",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Relieve {
        by: Processor::Anything,
    }]
}

fn test(host: &Host) -> Verdict {
    cpu::judge(host, Busy::Core)
}
