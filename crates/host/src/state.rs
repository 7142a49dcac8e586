//! Facts and evidence of this host, as either end of a run reports them.

use std::net::IpAddr;

use model::{evidence::Evidence, facts::HostFacts};

use crate::{
    evidence::{Scope, Snapshot, hotspots::Recording},
    facts::collect,
};

/// Facts of this host toward an address, and the scope of its counters.
pub fn facts(toward: Option<IpAddr>) -> (HostFacts, Scope) {
    let facts = collect(toward);
    let scope = Scope::of(&facts);
    (facts, scope)
}

/// Congestion controls that sockets of this process may use, by the kernel's list.
pub fn congestion() -> Vec<String> {
    let read = |name: &str| sys::sysctl::read(&format!("net.ipv4.{name}")).unwrap_or_default();
    // With CAP_NET_ADMIN all available ones can be used, otherwise the allowed ones
    // (net/ipv4/tcp_cong.c, tcp_set_congestion_control).
    let name = if sys::privilege::has_net_admin() {
        "tcp_available_congestion_control"
    } else {
        "tcp_allowed_congestion_control"
    };
    read(name).split_whitespace().map(str::to_owned).collect()
}

/// Counters at one moment, and a profile of the processors since.
pub struct Mark {
    scope: Scope,
    before: Snapshot,
    recording: Option<Recording>,
}

impl Mark {
    /// Reads the counters. With `hotspots`, profiles the processors too, if that is permitted.
    pub fn now(scope: &Scope, hotspots: bool) -> Self {
        Self {
            scope: scope.clone(),
            before: Snapshot::take(scope),
            recording: (hotspots && scope.samples())
                .then(Recording::start)
                .and_then(Result::ok),
        }
    }

    /// The evidence since.
    pub fn evidence(self) -> Evidence {
        let after = Snapshot::take(&self.scope);
        // After the counters: finding the names of functions takes the processor some time.
        let hotspots = self.recording.and_then(|r| r.stop().ok());
        Evidence {
            hotspots,
            ..self.before.until(&after)
        }
    }
}
