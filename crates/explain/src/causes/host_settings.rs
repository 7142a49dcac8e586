//! Settings of a host that harm TCP.

use model::findings::{Exhibit, RemedyClass, Severity, Value};

use super::FULL;
use crate::{
    cause::{Advice, Cause, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
    view::Host,
};

/// Parameters that are on in every kernel unless someone switched them off, and what that costs.
const ON: [(&str, &str); 3] = [
    (
        "net.ipv4.tcp_timestamps",
        "round trips are measured once a window only",
    ),
    (
        "net.ipv4.tcp_sack",
        "one loss a round trip is all that is repaired",
    ),
    (
        "net.ipv4.tcp_window_scaling",
        "no window can be larger than 64 kB",
    ),
];

/// Congestion controls that no distribution sets by itself and that do badly on ordinary paths.
const ODD: [&str; 7] = ["vegas", "westwood", "veno", "hybla", "lp", "nv", "yeah"];

/// Largest socket buffers smaller than this are someone's recipe of long ago, bytes.
const TINY: u64 = 1 << 20;

pub(super) const CAUSE: Cause = Cause {
    code: "host-settings",
    title: "settings of a host harm TCP",
    severity: Severity::Low,
    needs: &[],
    masked_by: &[],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Advice {
        class: RemedyClass::Settings,
        what: "put them back to the kernel's defaults; look in /etc/sysctl.d for who sets them",
        on: On::Here,
        why: "these are this host's own parameters; options that one end lacks are lost for both",
    },
    about: "Timestamps, selective acknowledgements and window scaling are on by default and needed on every \
        long or lossy path; hardening guides switch them off. Old recipes cap the socket buffers far \
        below what a modern path needs, or leave a congestion control behind that was made for \
        something else.",
    sources: &[
        "RFC 7323, RFC 2018",
        "dev-sec hardening role: net.ipv4.tcp_timestamps = 0",
        "Linux Documentation/networking/ip-sysctl.rst",
    ],
};

fn test(host: &Host) -> Verdict {
    let facts = host.facts;
    if facts.sysctls.is_empty() && facts.congestion.default.is_none() {
        return unknown(
            "the settings of this host are not known",
            "facts of this host",
        );
    }
    let mut evidence: Vec<Exhibit> = Vec::new();
    let mut words = Vec::new();
    for (name, cost) in ON {
        if facts.sysctl(name) == Some(0) {
            words.push(format!("{name} is off"));
            evidence.push(
                figure(name, Value::Count(0.0))
                    .against("1")
                    .by(cost)
                    .on(host.side)
                    .deciding(),
            );
        }
    }
    for name in ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"] {
        if let Some([_, _, max]) = facts.sysctl_triple(name)
            && max < TINY
        {
            words.push(format!("{name} ends at {max} bytes"));
            evidence.push(
                figure(&format!("{name}, largest"), Value::Bytes(max as f64))
                    .against("several MB")
                    .on(host.side)
                    .deciding(),
            );
        }
    }
    if let Some(cc) = facts
        .congestion
        .default
        .as_deref()
        .filter(|cc| ODD.contains(cc))
    {
        words.push(format!("the congestion control is {cc}"));
        evidence.push(
            figure(
                "net.ipv4.tcp_congestion_control",
                Value::Text(cc.to_owned()),
            )
            .against("cubic or bbr")
            .on(host.side)
            .deciding(),
        );
    }
    if words.is_empty() {
        return not("TCP's options are on, and buffers and congestion control are usual");
    }
    let ways = host.view().ways();
    let slow = ways.iter().any(|way| {
        way.plain()
            .is_some_and(|l| way.filled(&l).is_some_and(|f| f < FULL))
    });
    let verdict = holds(Strength::Strong, words.join("; "), evidence);
    if slow {
        verdict.at(Severity::Medium)
    } else {
        verdict
    }
}
