//! Drops by UDP sockets, mostly the tunnel's own.

use analysis::view::Host;
use model::{
    findings::{Severity, Value},
    remedy::Action,
    text,
    text::Text,
};

use super::{
    carries_the_underlay,
    drops::{Drops, MIN_SHARE, udp_socket_drops},
    filled, whole,
};
use crate::{
    bound,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::UDP_SOCKET_DROPS,
    title: "a UDP socket of a host overflows",
    severity: Severity::High,
    needs: &[Need::Tcp],
    masked_by: &[],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "the counter increases on this host; the other end sees only missing packets",
        actions,
    },
    about: "A userspace tunnel, or a proxy in front of one, receives its packets on a UDP socket. \
        The kernel does not grow UDP buffers by itself; the default of 208 KiB holds a few \
        milliseconds of a fast line. If the process is delayed for that long, packets are dropped \
        in the host, and TCP in the tunnel sees loss. From outside this looks exactly like a lossy \
        line with cubic; only `UdpRcvbufErrors` (or `UdpSndbufErrors`) of the host tells.",
    sources: &[
        "netbirdio/netbird#6021 and pull 6774: 950 to 95 Mbit/s by 208 KiB",
        "quic-go wiki: UDP Buffer Sizes",
        "XTLS/Xray-core#6563: rmem_max alone does not help",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    // Requested by the larger products.
    vec![Action::UdpBuffer { bytes: 7 << 20 }]
}

fn test(host: &Host) -> Verdict {
    let samples = host.view().tcp_samples();
    let Some(found) = udp_socket_drops(host, &samples) else {
        return undecided(
            text!("this host's counters were not read"),
            text!("the same plan with pathtwin on Linux as this end"),
        );
    };
    let Drops { lost, share } = found;
    if lost == 0.0 {
        return ruled_out(text!(
            "no UDP socket of this host dropped datagrams while TCP ran"
        ));
    }
    if !found.explain() {
        return ruled_out(text!(
            "UDP sockets dropped {lost} datagrams, which does not match TCP's retransmissions",
            lost = whole(lost)
        ));
    }
    let mut evidence = vec![
        figure(
            text!("datagrams dropped by UDP sockets while TCP ran"),
            Value::Count(lost),
        )
        .bound(text!("none"))
        .end(host.side)
        .decisive(),
    ];
    if let Some(share) = share {
        evidence.push(
            figure(
                text!("the same / TCP's retransmissions"),
                Value::Ratio(share),
            )
            .bound(bound::at_least(Value::Count(MIN_SHARE))),
        );
    }
    for name in ["net.core.rmem_default", "net.core.wmem_default"] {
        if let Some(bytes) = host.facts.sysctl(name) {
            evidence.push(figure(Text::name(name), Value::Bytes(bytes as f64)).end(host.side));
        }
    }
    let text = text!(
        "UDP sockets of this host dropped {lost} datagrams while TCP ran",
        lost = whole(lost)
    );
    let most = share.is_some_and(|s| s > 0.5);
    let verdict = confirmed(Strength::of(&[share.is_some(), most]), text, evidence);
    // Drops cost nothing if TCP recovers from them and fills the path.
    match filled(&host.view()) && carries_the_underlay(&host.view()) {
        true => verdict.at(Severity::Low),
        false => verdict,
    }
}
