//! The sender's socket buffer is too small.

use model::findings::{RemedyClass, Severity, Value};

use super::{FULL, percent, rate, receive_window::LIMITED, time};
use crate::{
    cause::{Advice, Cause, Need, On, Test},
    models,
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
    view::Way,
};

pub(super) const CAUSE: Cause = Cause {
    code: "send-buffer",
    title: "the send buffer is too small for this path",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::TcpInfo],
    masked_by: &[],
    depends_on: &[],
    test: Test::Way(test),
    remedy: Advice {
        class: RemedyClass::Buffers,
        what: "raise the third value of net.ipv4.tcp_wmem to three to four times the bandwidth-delay \
            product; in a program that sets SO_SNDBUF, stop doing so",
        on: On::Sender,
        why: "sent data stays in the sender's buffer until it is acknowledged; what the receiver or a \
            router has does not matter",
    },
    about: "Data that is under way is kept in the sender's socket buffer until it is acknowledged, so a \
        buffer of B bytes allows at most about B / RTT. The kernel counts the time in which the buffer \
        and not the network was the limit (`tcpi_sndbuf_limited` of `tcpi_busy_time`). A program that \
        sets SO_SNDBUF switches the kernel's own growth of the buffer off, which is the usual reason.",
    sources: &[
        "Linux commit b0f71bd3e190 (tcp: instrument how long TCP is limited by insufficient send buffer)",
        "Linux net/ipv4/tcp_bbr.c, bbr_sndbuf_expand: three times the window",
        "erebe/wstunnel#80: SO_SNDBUF switches autotuning off",
    ],
};

fn test(way: &Way) -> Verdict {
    let Some(load) = way.plain() else {
        return unknown(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let Some(share) = load.sndbuf_limited else {
        return unknown(
            "the sender's kernel does not say how long the buffer held it back",
            "a sender with Linux 4.10 or newer",
        );
    };
    if share <= LIMITED {
        return not(format!(
            "the send buffer held the sender back for {} of its busy time, at most {} is usual",
            percent(share),
            percent(LIMITED)
        ));
    }
    let filled = way.filled(&load);
    if let Some(filled) = filled.filter(|f| *f >= FULL) {
        return not(format!(
            "it held the sender back for {} of the time, but TCP fills {} of the path all the same",
            percent(share),
            percent(filled)
        ));
    }
    let mut evidence = vec![
        figure("time held back by the send buffer", Value::Share(share))
            .against("above 15 % of the busy time")
            .of(&load.samples)
            .deciding(),
        figure("goodput", Value::Bps(load.goodput_bps)).of(&load.samples),
    ];
    if let Some(rtt) = load.rtt_us() {
        let held = models::needed_bytes(load.goodput_bps, rtt / 1e6);
        evidence.push(
            figure("bytes under way", Value::Bytes(held))
                .by(format!(
                    "goodput * RTT = {} * {}",
                    rate(load.goodput_bps),
                    time(rtt)
                ))
                .of(&load.samples),
        );
        if let Some(sweep) = way.sweep() {
            let needed = models::needed_bytes(sweep.capacity_bps, rtt / 1e6);
            evidence.push(
                figure("bytes under way that the path needs", Value::Bytes(needed))
                    .by("rate * RTT")
                    .of(&sweep.samples),
            );
        }
    }
    if let Some(max) = way.sender().facts.sysctl_triple("net.ipv4.tcp_wmem") {
        evidence
            .push(figure("tcp_wmem, largest", Value::Bytes(max[2] as f64)).on(way.sender().side));
    }
    let says = format!(
        "the send buffer held the sender back for {} of its busy time at {}",
        percent(share),
        rate(load.goodput_bps)
    );
    let clean = load.lost().is_some_and(|p| p < 1e-3);
    holds(
        Strength::of(&[share > 0.5, filled.is_some(), clean]),
        says,
        evidence,
    )
}
