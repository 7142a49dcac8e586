//! Kernel settings that impair TCP.

use analysis::view::Host;
use model::{
    findings::{EvidenceItem, Severity, Value},
    remedy::Action,
    text,
    text::Text,
};

use super::FULL;
use crate::{
    cause::{Cause, CauseCode, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Parameters that are on by default in every kernel, and the effect of turning them off.
const ON: [(&str, Text); 3] = [
    (
        "net.ipv4.tcp_timestamps",
        text!("RTT is measured only once per window"),
    ),
    (
        "net.ipv4.tcp_sack",
        text!("only one loss per RTT is repaired"),
    ),
    (
        "net.ipv4.tcp_window_scaling",
        text!("windows are limited to 64 kB"),
    ),
];

/// Default maximum buffers of Linux with plenty of memory, bytes (net/ipv4/tcp.c, tcp_init, Linux
/// 6.12).
const BUFFERS: [(&str, &str); 2] = [
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
];

/// Congestion controls that no distribution uses by default and that perform badly on ordinary
/// paths.
const ODD: [&str; 7] = ["vegas", "westwood", "veno", "hybla", "lp", "nv", "yeah"];

/// Maximum socket buffers below this originate from outdated recipes, bytes.
const TINY: u64 = 1 << 20;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::HOST_SETTINGS,
    title: "kernel settings of a host impair TCP",
    severity: Severity::Low,
    needs: &[],
    masked_by: &[],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "these are this host's own parameters; a TCP option works only if both ends support it",
        actions,
    },
    about: "Timestamps, selective acknowledgements and window scaling are on by default and needed \
        on every long or lossy path; some hardening guides turn them off. Old recipes limit the \
        socket buffers far below what a modern path needs, or configure a congestion control made \
        for something else.",
    sources: &[
        "RFC 7323, RFC 2018",
        "dev-sec hardening role: net.ipv4.tcp_timestamps = 0",
        "Linux Documentation/networking/ip-sysctl.rst",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let host = scope.here();
    let default = |name: &str, value: &str| Action::Sysctl {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let mut all: Vec<Action> = ON
        .iter()
        .filter(|(name, _)| host.is_none_or(|h| h.facts.sysctl(name) == Some(0)))
        .map(|(name, _)| default(name, "1"))
        .collect();
    for (name, value) in BUFFERS {
        let tiny = |host: Host| {
            host.facts
                .sysctl_triple(name)
                .is_some_and(|[.., max]| max < TINY)
        };
        if host.is_none_or(tiny) {
            all.push(default(name, value));
        }
    }
    let odd = |host: Host| {
        host.default_cc()
            .is_some_and(|cc| ODD.contains(&cc.as_str()))
    };
    if host.is_none_or(odd) {
        all.push(default("net.ipv4.tcp_congestion_control", "cubic"));
    }
    all
}

fn test(host: &Host) -> Verdict {
    let facts = host.facts;
    if facts.sysctls.is_empty() && facts.congestion.default.is_none() {
        return undecided(
            text!("the settings of this host are not known"),
            text!("facts of this host"),
        );
    }
    let mut evidence: Vec<EvidenceItem> = Vec::new();
    let mut words = Vec::new();
    for (name, cost) in ON {
        if facts.sysctl(name) == Some(0) {
            words.push(text!("{name} is off", name = name));
            evidence.push(
                figure(Text::name(name), Value::Count(0.0))
                    .bound(Text::name("1"))
                    .formula(cost)
                    .end(host.side)
                    .decisive(),
            );
        }
    }
    for (name, _) in BUFFERS {
        if let Some([_, _, max]) = facts.sysctl_triple(name)
            && max < TINY
        {
            words.push(text!(
                "{name} is limited to {max} bytes",
                name = name,
                max = max
            ));
            evidence.push(
                figure(
                    text!("{name}, maximum", name = name),
                    Value::Bytes(max as f64),
                )
                .bound(text!("several MB"))
                .end(host.side)
                .decisive(),
            );
        }
    }
    if let Some(cc) = facts
        .congestion
        .default
        .as_deref()
        .filter(|cc| ODD.contains(cc))
    {
        words.push(text!("the congestion control is {cc}", cc = cc));
        evidence.push(
            figure(
                Text::name("net.ipv4.tcp_congestion_control"),
                Value::Name(cc.to_owned()),
            )
            .bound(text!("cubic or bbr"))
            .end(host.side)
            .decisive(),
        );
    }
    let list = |list, next| text!("{list}; {next}", list = list, next = next);
    let Some(text) = words.into_iter().reduce(list) else {
        return ruled_out(text!(
            "TCP's options are on, and buffers and congestion control are at common settings"
        ));
    };
    let directions = host.view().directions();
    let slow = directions.iter().any(|dir| {
        dir.default_load()
            .is_some_and(|l| dir.utilization(&l).is_some_and(|f| f < FULL))
    });
    let verdict = confirmed(Strength::Strong, text, evidence);
    if slow {
        verdict.at(Severity::Medium)
    } else {
        verdict
    }
}
