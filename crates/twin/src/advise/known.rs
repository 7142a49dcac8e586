//! Settings of well-known recipes that the lab cannot try, with their known effects.

use model::{advice::NotTried, text, text::Text};

/// Each with its reason. Sources: Documentation/networking/ip-sysctl.rst and mptcp-sysctl.rst of
/// Linux 6.12.
pub(super) fn settings() -> Vec<NotTried> {
    let all: [(&str, Text); 8] = [
        (
            "tcp_low_latency=1",
            text!("without effect since Linux 4.14, which still accepts it"),
        ),
        (
            "tcp_timestamps=0",
            text!(
                "it saves 12 bytes a segment, and costs the protection against old sequence numbers and a better RTT estimate"
            ),
        ),
        (
            "tcp_sack=0",
            text!(
                "it saves nothing, and makes TCP recover from several losses one round trip each"
            ),
        ),
        (
            "tcp_fastopen=3",
            text!(
                "it saves one round trip at the start of a connection, where the programs of both ends ask for it; bulk data does not change"
            ),
        ),
        ("tcp_recovery=1", text!("the kernel's default")),
        (
            "tcp_slow_start_after_idle=0",
            text!(
                "it keeps the congestion window over pauses; it matters for requests on connections that were idle, not for bulk data"
            ),
        ),
        (
            "somaxconn, tcp_max_syn_backlog",
            text!(
                "they bound connections that wait to be accepted: they matter for servers with thousands of new connections a second"
            ),
        ),
        (
            "mptcp.enabled=1",
            text!("the kernel's default; it acts only in programs that ask for MPTCP"),
        ),
    ];
    all.into_iter()
        .map(|(name, why)| NotTried {
            name: Text::name(name),
            why,
            remedy: None,
        })
        .collect()
}
