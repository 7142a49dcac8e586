//! Saturated tunnel threads.

use analysis::view::Host;
use model::{
    findings::Severity,
    remedy::{Action, Processor, TunnelMode},
};

use super::cpu::{self, Busy};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::Verdict,
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::CPU_TUNNEL_THREAD,
    title: "the tunnel's own thread is fully busy",
    severity: Severity::High,
    needs: &[Need::Tcp],
    masked_by: &[CauseCode::RELAYED_PATH],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "the tunnel's process on this host is the limit, not the line or the other end",
        actions,
    },
    about: "A userspace tunnel does its work in a few threads. One saturated thread limits the \
        total of all flows, UDP and TCP alike, while the underlay is much faster and other \
        processors are idle. Go spreads the work over more threads than processors: then all \
        processors are saturated, and no thread is.",
    sources: &[
        "netbirdio/docs pull 873: the tunnel serialises on one core",
        "tailscale/tailscale#10524",
        "tailscale.com/blog/more-throughput",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![
        Action::Relieve {
            by: Processor::TunnelThread,
        },
        Action::Tunnel {
            mode: TunnelMode::Kernel,
        },
    ]
}

fn test(host: &Host) -> Verdict {
    cpu::judge(host, Busy::Tunnel)
}
