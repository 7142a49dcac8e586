//! Processors saturated by softirqs.

use analysis::view::Host;
use model::{findings::Severity, remedy::Action};

use super::cpu::{self, Busy};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::{Scope, device},
    verdict::Verdict,
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::CPU_SOFTIRQ,
    title: "a processor is fully busy with softirqs",
    severity: Severity::High,
    needs: &[Need::Tcp],
    masked_by: &[CauseCode::RELAYED_PATH],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "softirqs run on the host that receives the interrupts",
        actions,
    },
    about: "The kernel receives, decrypts for its own WireGuard, and forwards in softirqs on the \
        processor that took the interrupt. A router with one queue does all of that on one \
        processor; when it is saturated, goodput stops growing and `time_squeeze` of softnet \
        increases.",
    sources: &[
        "WireGuard/wireguard-vyatta-ubnt#43: 80 Mbit/s at 61 % softirq",
        "openwrt/openwrt#19369: packet steering, 240 to 350 Mbit/s",
        "Linux Documentation/networking/scaling.rst",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let host = scope.here();
    vec![Action::ReceiveSteering {
        device: device(host),
        cpus: host.and_then(|host| host.facts.cpus),
    }]
}

fn test(host: &Host) -> Verdict {
    cpu::judge(host, Busy::Softirq)
}
