//! The sender's socket buffer is too small.

use model::findings::{RemedyClass, Severity, Value};

use super::{held_back, percent, rate, time};
use crate::{
    cause::{Advice, Cause, Need, On, Test},
    models,
    verdict::{Figure, Strength, Verdict, figure, holds},
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
    let mut held = match held_back::by(way, "send buffer", |l| l.sndbuf_limited) {
        Ok(held) => held,
        Err(verdict) => return verdict,
    };
    let load = held.load.clone();
    if let Some(rtt) = load.rtt_us() {
        let under_way = models::needed_bytes(load.goodput_bps, rtt / 1e6);
        held.evidence.push(
            figure("bytes under way", Value::Bytes(under_way))
                .by(format!(
                    "goodput * RTT = {} * {}",
                    rate(load.goodput_bps),
                    time(rtt)
                ))
                .of(&load.samples),
        );
    }
    held.needs(way, "bytes under way that the path needs");
    let sender = way.sender();
    if let Some(max) = sender.facts.sysctl_triple("net.ipv4.tcp_wmem") {
        held.evidence
            .push(figure("tcp_wmem, largest", Value::Bytes(max[2] as f64)).on(sender.side));
    }
    let says = format!(
        "the send buffer held the sender back for {} of its busy time at {}",
        percent(held.share),
        rate(load.goodput_bps)
    );
    let [clear, clean] = held.signs();
    holds(
        Strength::of(&[clear, held.filled.is_some(), clean]),
        says,
        held.evidence,
    )
}
