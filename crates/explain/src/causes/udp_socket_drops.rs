//! A UDP socket of a host overflows: the tunnel's own.

use analysis::view::Host;
use model::{
    findings::{RemedyClass, Severity, Value},
    remedy::Action,
    text,
    text::Text,
};

use super::{
    drops::{Drops, drops},
    whole,
};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

pub(super) const CAUSE: Cause = Cause {
    code: "udp-socket-drops",
    title: "a UDP socket of a host overflows",
    severity: Severity::High,
    needs: &[Need::Tcp],
    masked_by: &[],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Advice {
        class: RemedyClass::Buffers,
        what: "raise net.core.rmem_default and wmem_default (7 MiB is what the larger products ask for), \
            or let the VPN set its own buffers (CAP_NET_ADMIN in containers), then restart it",
        on: On::Here,
        why: "the counter moves on this host; the other end and the path see only that packets are \
            missing",
        actions,
    },
    about: "A userspace tunnel, or a proxy in front of one, receives its packets on a UDP socket. The \
        kernel does not grow UDP buffers by itself; the default of 208 KiB holds a few milliseconds of a \
        fast line. When the process is late for that long, packets are dropped in the host, and TCP in \
        the tunnel sees loss. From outside this looks exactly like a lossy line with cubic; only \
        `UdpRcvbufErrors` (or `UdpSndbufErrors`) of the host tells.",
    sources: &[
        "netbirdio/netbird#6021 and pull 6774: 950 to 95 Mbit/s by 208 KiB",
        "quic-go wiki: UDP Buffer Sizes",
        "XTLS/Xray-core#6563: rmem_max alone does not help",
    ],
};

/// What to do, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    // What the larger products ask for.
    vec![Action::UdpBuffer { bytes: 7 << 20 }]
}

fn test(host: &Host) -> Verdict {
    let samples = host.view().tcp_samples();
    let Some(found) = drops(host, &samples, "nstat", &["RcvbufErrors", "SndbufErrors"]) else {
        return unknown(
            text!("this host's counters were not read"),
            text!("the same plan with pathtwin on Linux at this end"),
        );
    };
    let Drops { lost, share } = found;
    if lost == 0.0 {
        return not(text!(
            "no UDP socket of this host dropped anything while TCP ran"
        ));
    }
    if !found.explain() {
        return not(text!(
            "UDP sockets dropped {lost} datagrams, which is not what TCP sent again",
            lost = whole(lost)
        ));
    }
    let mut evidence = vec![
        figure(
            text!("datagrams dropped by UDP sockets while TCP ran"),
            Value::Count(lost),
        )
        .against(text!("none"))
        .on(host.side)
        .deciding(),
    ];
    if let Some(share) = share {
        evidence.push(
            figure(
                text!("the same over what TCP sent again"),
                Value::Ratio(share),
            )
            .against(text!("at least 0.2")),
        );
    }
    for name in ["net.core.rmem_default", "net.core.wmem_default"] {
        if let Some(bytes) = host.facts.sysctl(name) {
            evidence.push(figure(Text::name(name), Value::Bytes(bytes as f64)).on(host.side));
        }
    }
    let text = text!(
        "UDP sockets of this host dropped {lost} datagrams while TCP ran",
        lost = whole(lost)
    );
    let most = share.is_some_and(|s| s > 0.5);
    holds(Strength::of(&[share.is_some(), most]), text, evidence)
}
