//! The receiver offers too small a window.

use model::findings::{RemedyClass, Severity, Value};

use super::{FULL, bytes, percent, rate, time};
use crate::{
    cause::{Advice, Cause, Need, On, Test},
    models,
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
    view::Way,
};

/// Share of the busy time above which a window limits (NDT's classifier has the same).
pub(super) const LIMITED: f64 = 0.15;

pub(super) const CAUSE: Cause = Cause {
    code: "receive-window",
    title: "the receive window is too small for this path",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::TcpInfo],
    masked_by: &[],
    depends_on: &[],
    test: Test::Way(test),
    remedy: Advice {
        class: RemedyClass::Buffers,
        what: "raise the third value of net.ipv4.tcp_rmem to at least twice the bandwidth-delay product; \
            in a program that sets SO_RCVBUF, stop doing so",
        on: On::Receiver,
        why: "the window is what the receiver offers; the sender's buffers and congestion control \
            cannot exceed it, and routers between have no part in it",
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

fn test(way: &Way) -> Verdict {
    let Some(load) = way.plain() else {
        return unknown(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let Some(share) = load.rwnd_limited else {
        return unknown(
            "the sender's kernel does not say how long the window held it back",
            "a sender with Linux 4.10 or newer",
        );
    };
    if share <= LIMITED {
        return not(format!(
            "the receive window held the sender back for {} of its busy time, at most {} is usual",
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
        figure("time held back by the receive window", Value::Share(share))
            .against("above 15 % of the busy time")
            .of(&load.samples)
            .deciding(),
        figure("goodput", Value::Bps(load.goodput_bps)).of(&load.samples),
    ];
    let mut fits = false;
    let mut says = format!(
        "the receiver's window held the sender back for {} of its busy time at {}",
        percent(share),
        rate(load.goodput_bps)
    );
    if let (Some(window), Some(rtt)) = (load.snd_wnd_p50, load.rtt_us()) {
        let limit = models::window_bytes_bps(window, rtt / 1e6);
        let ratio = load.goodput_bps / limit;
        fits = (0.5..=1.5).contains(&ratio);
        evidence.push(
            figure("window over round trip", Value::Bps(limit))
                .against("close to the goodput")
                .by(format!("W / RTT = {} * 8 / {}", bytes(window), time(rtt)))
                .of(&load.samples),
        );
        if fits {
            says = format!(
                "a window of {} in {} allows {}, and {} came out",
                bytes(window),
                time(rtt),
                rate(limit),
                rate(load.goodput_bps)
            );
        }
        if let Some(sweep) = way.sweep() {
            let needed = models::needed_bytes(sweep.capacity_bps, rtt / 1e6);
            evidence.push(
                figure("window the path needs", Value::Bytes(needed))
                    .by("rate * RTT")
                    .of(&sweep.samples),
            );
        }
    }
    let clean = load.lost().is_some_and(|p| p < 1e-3);
    if let Some(again) = load.retransmitted() {
        evidence.push(
            figure("sent again", Value::Share(again))
                .against("close to nothing")
                .of(&load.samples),
        );
    }
    if let Some(filled) = filled {
        evidence.push(figure("share of the path used", Value::Share(filled)).against("below 85 %"));
    }
    let clear = share > 0.5 && filled.is_some();
    holds(Strength::of(&[clear, fits, clean]), says, evidence)
}
