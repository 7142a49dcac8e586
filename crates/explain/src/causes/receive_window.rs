//! The receiver offers too small a window.

use analysis::{models, view::DirectionView};
use model::{
    findings::{RemedyClass, Severity, Value},
    remedy::{Action, Buffer},
    text,
};

use super::{bytes, held_back, percent, rate, time};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds},
};

pub(super) const CAUSE: Cause = Cause {
    code: "receive-window",
    title: "the receive window is too small for this path",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::TcpInfo],
    masked_by: &[],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::Buffers,
        what: "raise the third value of net.ipv4.tcp_rmem to at least twice the bandwidth-delay product; \
            in a program that sets SO_RCVBUF, stop doing so",
        on: On::Receiver,
        why: "the window is what the receiver offers; the sender's buffers and congestion control \
            cannot exceed it, and routers between have no part in it",
        actions,
    },
    about: "A sender may have no more bytes under way than the receiver offers. With a window of W bytes \
        and a round trip of RTT, no connection gets more than W / RTT, whatever the line carries and \
        whatever the congestion control. The kernel counts the time in which it had something to send \
        and was held back by that window (`tcpi_rwnd_limited` of `tcpi_busy_time`). Several \
        connections at once get several windows, and UDP has none, so both are faster. Loss is close \
        to nothing, which tells it from random loss; the round trip does not rise, which tells it from a \
        full queue.",
    sources: &[
        "Linux commit efd901741675 (tcp: record sender limits) and merge 6d5274eba485: poor performance is \
            often attributed to the congestion control when it is buffers",
        "NDT test methodology: receiver limited above 15 % of the time",
        "Linux Documentation/networking/ip-sysctl.rst: tcp_rmem, tcp_adv_win_scale",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![scope.buffer(scope.receiver(), Buffer::Receive, 2.0)]
}

fn test(way: &DirectionView) -> Verdict {
    let mut held = match held_back::by(way, text!("receive window"), |l| l.rwnd_limited) {
        Ok(held) => held,
        Err(verdict) => return verdict,
    };
    let load = held.load.clone();
    let mut fits = false;
    let mut text = text!(
        "the receiver's window held the sender back for {share} of its busy time at {goodput}",
        share = percent(held.share),
        goodput = rate(load.goodput_bps)
    );
    if let (Some(window), Some(rtt)) = (load.snd_wnd_p50, load.rtt_us()) {
        let limit = models::window_bytes_bps(window, rtt / 1e6);
        let ratio = load.goodput_bps / limit;
        fits = (0.5..=1.5).contains(&ratio);
        held.evidence.push(
            figure(text!("window over round trip"), Value::Bps(limit))
                .against(text!("close to the goodput"))
                .by(text!(
                    "W / RTT = {window} * 8 / {rtt}",
                    window = bytes(window),
                    rtt = time(rtt)
                ))
                .of(&load.samples),
        );
        if fits {
            text = text!(
                "a window of {window} in {rtt} allows {limit}, and {goodput} came out",
                window = bytes(window),
                rtt = time(rtt),
                limit = rate(limit),
                goodput = rate(load.goodput_bps)
            );
        }
        held.needs(way, text!("window the path needs"));
    }
    if let Some(again) = load.retransmitted_segments() {
        held.evidence.push(
            figure(text!("sent again"), Value::Share(again))
                .against(text!("close to nothing"))
                .of(&load.samples),
        );
    }
    if let Some(filled) = held.filled {
        held.evidence.push(
            figure(text!("share of the path used"), Value::Share(filled))
                .against(text!("below 85 %")),
        );
    }
    let [clear, clean] = held.signs();
    holds(Strength::of(&[clear, fits, clean]), text, held.evidence)
}
