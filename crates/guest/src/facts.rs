//! Abilities of the running kernel, found by trying.

use model::job::Facts;

/// Tries every kernel feature that pathtwin can use.
pub(crate) fn collect() -> anyhow::Result<Facts> {
    let tried = testbed::needs::try_all()?;
    let names = |kind: testbed::needs::Kind| {
        let found = tried
            .iter()
            .filter(|t| t.kind == kind && t.refusal.is_none());
        found.map(|t| t.name.to_owned()).collect()
    };
    let congestion = sys::sysctl::read("net.ipv4.tcp_available_congestion_control")?;
    Ok(Facts {
        release: crate::run::release(),
        hz: sys::clock::hz()?,
        congestion: congestion.split_whitespace().map(str::to_owned).collect(),
        qdiscs: names(testbed::needs::Kind::Qdisc),
        tunnels: names(testbed::needs::Kind::Tunnel),
        lacks: tried
            .iter()
            .filter_map(|t| Some((t.name.to_owned(), t.refusal.clone()?)))
            .collect(),
    })
}
