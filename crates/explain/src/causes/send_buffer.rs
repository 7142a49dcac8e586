//! The sender's socket buffer is too small.

use analysis::view::{DirectionView, Host};
use model::{
    findings::{RemedyClass, Severity, Value},
    remedy::{Action, Buffer},
    text,
};

use super::{bytes, held_back, percent, rate};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds},
};

/// What is under way is the whole buffer between these shares of it: the kernel charges a packet's
/// memory with its overhead, and allows one packet beyond the limit.
const AS_LARGE: std::ops::RangeInclusive<f64> = 0.6..=1.3;
/// The congestion window has room from this many times of what is under way on.
const ROOM: f64 = 1.3;

pub(super) const CAUSE: Cause = Cause {
    code: "send-buffer",
    title: "the send buffer is too small for this path",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::TcpInfo],
    masked_by: &[],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::Buffers,
        what: "raise the third value of net.ipv4.tcp_wmem to three to four times the bandwidth-delay \
            product; in a program that sets SO_SNDBUF, stop doing so",
        on: On::Sender,
        why: "sent data stays in the sender's buffer until it is acknowledged; what the receiver or a \
            router has does not matter",
        actions,
    },
    about: "Data that is under way is kept in the sender's socket buffer until it is acknowledged, so a \
        buffer of B bytes allows at most about B / RTT. The kernel counts the time in which the buffer \
        and not the network was the limit (`tcpi_sndbuf_limited` of `tcpi_busy_time`). A program that \
        sets SO_SNDBUF switches the kernel's own growth of the buffer off, which is the usual reason.",
    sources: &[
        "Linux commit b0f71bd3e190 (tcp: instrument how long TCP is limited by insufficient send buffer)",
        "Linux net/ipv4/tcp_output.c, tcp_cwnd_validate: when the time counts as limited by the send buffer",
        "Linux net/ipv4/tcp_bbr.c, bbr_sndbuf_expand: three times the window",
        "erebe/wstunnel#80: SO_SNDBUF switches autotuning off",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![scope.buffer(scope.sender(), Buffer::Send, 4.0)]
}

fn test(way: &DirectionView) -> Verdict {
    let mut held = match held_back::by(way, text!("send buffer"), |l| l.sndbuf_limited) {
        Ok(held) => held,
        Err(verdict) => return full(way).unwrap_or(verdict),
    };
    held.under_way();
    held.needs(way, text!("bytes under way that the path needs"));
    let sender = way.sender();
    if let Some(max) = largest(&sender) {
        held.evidence
            .push(figure(text!("tcp_wmem, largest"), Value::Bytes(max)).on(sender.side));
    }
    let text = text!(
        "the send buffer held the sender back for {share} of its busy time at {goodput}",
        share = percent(held.share),
        goodput = rate(held.load.goodput_bps)
    );
    let [clear, clean] = held.signs();
    holds(
        Strength::of(&[clear, held.filled.is_some(), clean]),
        text,
        held.evidence,
    )
}

/// The largest send buffer that the host's kernel grows by itself, bytes.
fn largest(host: &Host) -> Option<f64> {
    let [_, _, max] = host.facts.sysctl_triple("net.ipv4.tcp_wmem")?;
    Some(max as f64)
}

/// The buffer is full all the time though the kernel counts no waiting: it starts that clock only
/// if a write waits for room at the moment at which the last segment leaves (tcp_cwnd_validate).
/// Then the kernel takes the sender for limited by its program, the bytes under way are the buffer,
/// and the congestion window has room.
fn full(way: &DirectionView) -> Option<Verdict> {
    let mut held = held_back::by(
        way,
        text!("kernel's count of looks without more to send"),
        |l| l.app_limited,
    )
    .ok()
    .filter(|held| held.share > 0.5)?;
    let sender = way.sender();
    let largest = largest(&sender)?;
    let load = held.load.clone();
    let window = load.cwnd_p50? * load.mss_bytes();
    let under_way = held.under_way()?;
    let ratio = under_way / largest;
    if !AS_LARGE.contains(&ratio) || window < ROOM * under_way {
        return None;
    }
    for item in &mut held.evidence {
        item.decides = false;
    }
    held.evidence.push(
        figure(
            text!("bytes under way over the largest of tcp_wmem"),
            Value::Ratio(ratio),
        )
        .against(text!("close to 1"))
        .by(text!(
            "{under_way} / {largest}",
            under_way = bytes(under_way),
            largest = bytes(largest)
        ))
        .on(sender.side)
        .deciding(),
    );
    held.evidence.push(
        figure(text!("congestion window"), Value::Bytes(window))
            .against(text!("larger than what is under way"))
            .of(&load.samples),
    );
    held.needs(way, text!("bytes under way that the path needs"));
    let text = text!(
        "{under_way} are under way, which is all that the send buffer may hold, at {goodput}",
        under_way = bytes(under_way),
        goodput = rate(load.goodput_bps)
    );
    let clean = load.loss().is_some_and(|p| p < 1e-3);
    let signs = [held.filled.is_some() && clean];
    Some(holds(Strength::of(&signs), text, held.evidence))
}
