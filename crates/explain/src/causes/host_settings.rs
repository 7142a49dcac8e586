//! Settings of a host that harm TCP.

use analysis::view::Host;
use model::{
    findings::{EvidenceItem, RemedyClass, Severity, Value},
    remedy::Action,
    text,
    text::Text,
};

use super::FULL;
use crate::{
    advice::Scope,
    cause::{Advice, Cause, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

/// Parameters that are on in every kernel unless someone switched them off, and what that costs.
const ON: [(&str, Text); 3] = [
    (
        "net.ipv4.tcp_timestamps",
        text!("round trips are measured once a window only"),
    ),
    (
        "net.ipv4.tcp_sack",
        text!("one loss a round trip is all that is repaired"),
    ),
    (
        "net.ipv4.tcp_window_scaling",
        text!("no window can be larger than 64 kB"),
    ),
];

/// The buffers of Linux by default, with the largest that it takes itself where memory is plenty,
/// bytes (net/ipv4/tcp.c, tcp_init, Linux 6.12).
const BUFFERS: [(&str, &str); 2] = [
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
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
        actions,
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

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let Some(host) = scope.here() else {
        return Vec::new();
    };
    let default = |name: &str, value: &str| Action::Sysctl {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let mut all: Vec<Action> = ON
        .iter()
        .filter(|(name, _)| host.facts.sysctl(name) == Some(0))
        .map(|(name, _)| default(name, "1"))
        .collect();
    for (name, value) in BUFFERS {
        if let Some([_, _, max]) = host.facts.sysctl_triple(name)
            && max < TINY
        {
            all.push(default(name, value));
        }
    }
    if host
        .default_cc()
        .is_some_and(|cc| ODD.contains(&cc.as_str()))
    {
        all.push(default("net.ipv4.tcp_congestion_control", "cubic"));
    }
    all
}

fn test(host: &Host) -> Verdict {
    let facts = host.facts;
    if facts.sysctls.is_empty() && facts.congestion.default.is_none() {
        return unknown(
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
                    .against(Text::name("1"))
                    .by(cost)
                    .on(host.side)
                    .deciding(),
            );
        }
    }
    for (name, _) in BUFFERS {
        if let Some([_, _, max]) = facts.sysctl_triple(name)
            && max < TINY
        {
            words.push(text!("{name} ends at {max} bytes", name = name, max = max));
            evidence.push(
                figure(
                    text!("{name}, largest", name = name),
                    Value::Bytes(max as f64),
                )
                .against(text!("several MB"))
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
        words.push(text!("the congestion control is {cc}", cc = cc));
        evidence.push(
            figure(
                Text::name("net.ipv4.tcp_congestion_control"),
                Value::Name(cc.to_owned()),
            )
            .against(text!("cubic or bbr"))
            .on(host.side)
            .deciding(),
        );
    }
    let list = |list, next| text!("{list}; {next}", list = list, next = next);
    let Some(text) = words.into_iter().reduce(list) else {
        return not(text!(
            "TCP's options are on, and buffers and congestion control are usual"
        ));
    };
    let ways = host.view().directions();
    let slow = ways.iter().any(|way| {
        way.default_load()
            .is_some_and(|l| way.utilization(&l).is_some_and(|f| f < FULL))
    });
    let verdict = holds(Strength::Strong, text, evidence);
    if slow {
        verdict.at(Severity::Medium)
    } else {
        verdict
    }
}
