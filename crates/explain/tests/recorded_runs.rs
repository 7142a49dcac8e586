//! Runs recorded through real tunnels between network namespaces, whose truth is known from their
//! construction and from the tunnels' own status.

#![allow(clippy::unwrap_used)]

mod common;

use common::findings;
use model::findings::{Findings, Severity, Value};

fn codes(findings: &Findings) -> Vec<&str> {
    findings.findings.iter().map(|f| f.code.as_str()).collect()
}

/// Always relayed; idle when the first facts were taken, 45 s after the last packet.
#[test]
fn a_tunnel_that_was_idle_before_is_relayed_by_the_facts_after() {
    let findings = findings("tailscale-idle-then-relayed");
    assert_eq!(codes(&findings)[0], "relayed-path", "{findings:#?}");
    assert!(
        findings
            .ruled_out
            .iter()
            .all(|r| r.code.as_str() != "relayed-path")
    );
}

/// A relay over a WebSocket, with all UDP between the hosts dropped.
#[test]
fn a_relay_that_the_status_names_leads() {
    assert_eq!(codes(&findings("netbird-relayed"))[0], "relayed-path");
}

/// BoringTun on four threads at 100 Mbit/s: one needless retransmission down, ten up, and no
/// datagram of UDP overtaken.
#[test]
fn reordering_does_not_lead_on_one_event_of_tcp_and_none_of_udp() {
    let findings = findings("boringtun-reordering");
    assert_ne!(codes(&findings).first(), Some(&"reordering"));
    for finding in findings
        .findings
        .iter()
        .filter(|f| f.code.as_str() == "reordering")
    {
        assert!(finding.severity <= Severity::Low, "{finding:#?}");
    }
}

/// Both hosts on two processors that other work shares. The tunnel's process is at 41 to 54 % of a
/// processor, on six threads of which the busiest is at 11 %.
#[test]
fn a_tunnel_of_many_threads_is_judged_by_its_process() {
    let findings = findings("wireguard-go-busy");
    assert_eq!(codes(&findings)[0], "cpu-core");
    let tunnels = findings
        .findings
        .iter()
        .filter(|f| f.code.as_str() == "userspace-tunnel");
    let shares: Vec<f64> = tunnels
        .flat_map(|f| &f.evidence)
        .filter(|e| {
            e.name
                .template()
                .starts_with("processor share of its process")
        })
        .filter_map(|e| match e.value {
            Value::Share(share) => Some(share),
            _ => None,
        })
        .collect();
    assert_eq!(shares.len(), 2, "{findings:#?}");
    assert!(
        shares.iter().all(|s| (0.40..=0.55).contains(s)),
        "{shares:?}"
    );
}

/// A token bucket of 20 Mbit/s on the sender's own device, below BoringTun: each datagram it drops
/// also counts as an error of the socket that sent it (142 of 142, 62 of 62).
#[test]
fn drops_of_the_devices_shaper_are_not_drops_of_a_socket() {
    let findings = findings("boringtun-shaper-up");
    assert_eq!(codes(&findings)[0], "leftover-shaper", "{findings:#?}");
    assert!(!codes(&findings).contains(&"udp-socket-drops"));
}

/// BoringTun on a busy machine at 100 Mbit/s: its sockets dropped 746 and 974 datagrams, a third of
/// TCP's retransmissions, and TCP took all that the line carries.
#[test]
fn drops_without_a_cost_are_not_the_main_finding_on_a_full_path() {
    for finding in findings("boringtun-full-drops").findings {
        assert!(finding.severity <= Severity::Low, "{finding:#?}");
    }
}

/// Loopback, where each load of TCP met a busy processor: "application-limited", "reordering" and
/// "nothing is wrong" were said of the measurement itself.
#[test]
fn processors_of_one_host_are_not_attributed_to_a_path() {
    let findings = findings("one-host-at-full-processors");
    assert_eq!(codes(&findings), ["cpu-core"], "{findings:#?}");
    assert_eq!(findings.findings[0].severity, Severity::Info);
    let summary = findings.summary.to_string();
    assert!(summary.starts_with("Both ends are one host"), "{summary}");
}

/// Case 4 with the quick plan: at its start, bbr alone sent 1.2 ms of packets ahead into the fq of
/// its host, which has room for 100 of a flow. "fq drops packets" was the first finding, and the
/// loss of 1 % that holds cubic at 34 Mbit/s was open.
#[test]
fn packets_that_only_bbr_loses_in_its_own_queue_do_not_explain_cubic() {
    let findings = findings("bbr-overfills-fq-1gbit");
    assert_eq!(codes(&findings)[0], "random-loss", "{findings:#?}");
    for code in ["fq-flow-limit", "host-queue-drops"] {
        assert!(!codes(&findings).contains(&code), "{findings:#?}");
    }
}

/// Shapers of 50 and 10 Mbit/s, BoringTun: the bucket of 12 kB lets 3 % more pass in 0.3 s than in
/// 1.5 s, of datagrams sent faster. "Other traffic takes part of the line", up, and down on a host
/// with busy processors, where datagrams do not arrive evenly.
#[test]
fn what_a_shapers_bucket_lets_pass_is_no_other_traffic() {
    for run in ["tbf-bucket-10m-boringtun", "tbf-bucket-10m-busy-host"] {
        let findings = findings(run);
        let loud: Vec<_> = findings
            .findings
            .iter()
            .filter(|f| f.severity >= Severity::Medium)
            .collect();
        assert!(loud.is_empty(), "{run}: {loud:#?}");
    }
}
