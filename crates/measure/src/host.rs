//! What this host is and what its counters do, as either end of a run tells it.

use std::net::IpAddr;

use model::{evidence::Evidence, facts::HostFacts};

use crate::evidence::{Scope, Snapshot};

/// Facts of this host as seen towards an address, and what its counters are to be taken of.
pub(crate) fn facts(toward: Option<IpAddr>) -> (HostFacts, Scope) {
    let facts = crate::facts::collect(toward);
    let scope = Scope::of(&facts);
    (facts, scope)
}

/// Congestion controls that sockets of this process can have, by the kernel's list.
pub(crate) fn congestion() -> Vec<String> {
    let read = |name: &str| sys::sysctl::read(&format!("net.ipv4.{name}")).unwrap_or_default();
    // Who may administer the network may use all that are there, others what is allowed
    // (net/ipv4/tcp_cong.c, tcp_set_congestion_control).
    let name = if sys::privilege::has_net_admin() {
        "tcp_available_congestion_control"
    } else {
        "tcp_allowed_congestion_control"
    };
    read(name).split_whitespace().map(str::to_owned).collect()
}

/// Counters at one moment.
pub(crate) struct Mark {
    scope: Scope,
    before: Snapshot,
}

impl Mark {
    /// Reads the counters.
    pub(crate) fn now(scope: &Scope) -> Self {
        Self {
            scope: scope.clone(),
            before: Snapshot::take(scope),
        }
    }

    /// What they did since.
    pub(crate) fn evidence(self) -> Evidence {
        self.before.until(&Snapshot::take(&self.scope))
    }
}
