//! The program gives TCP too little to send.

use analysis::view::DirectionView;
use model::{
    findings::{RemedyClass, Severity, Value},
    remedy::Action,
    text,
};

use super::{FULL, percent, rate};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

/// Share of the looks at which the kernel counts the sender as limited by its program.
const MOSTLY: f64 = 0.5;

pub(super) const CAUSE: Cause = Cause {
    code: "application-limited",
    title: "the sending program gives TCP too little to send",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::TcpInfo],
    masked_by: &[
        "cpu-core",
        "cpu-softirq",
        "cpu-tunnel-thread",
        "receive-window",
        "send-buffer",
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::Application,
        what: "look at what feeds the sender: disk, a single-threaded program, small writes that wait for \
            answers",
        on: On::Sender,
        why: "the sender's socket is empty much of the time; nothing on the path or the receiver holds it \
            back",
        actions,
    },
    about: "If the socket has nothing to send, no network is at fault. The kernel marks its own estimates of \
        the rate as limited by the application, and the time in which it had something to send stays well \
        below all of the time.",
    sources: &[
        "Linux net/ipv4/tcp_rate.c: tcp_rate_check_app_limited",
        "oracle/bpftune, case studies",
    ],
};

/// What to do, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::FeedSender]
}

fn test(way: &DirectionView) -> Verdict {
    let Some(load) = way.default_load() else {
        return unknown(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let Some(share) = load.app_limited else {
        return unknown(
            text!("the sender's kernel does not say whether its program limits it"),
            text!("a sender with Linux 4.9 or newer"),
        );
    };
    if share <= MOSTLY {
        return not(text!(
            "the sender was limited by its program at {share} of the looks",
            share = percent(share)
        ));
    }
    let filled = way.utilization(&load);
    if let Some(filled) = filled.filter(|f| *f >= FULL) {
        return not(text!(
            "TCP fills {filled} of the path",
            filled = percent(filled)
        ));
    }
    let idle = load.busy.is_some_and(|b| b < 0.9);
    let calm = load.loss().is_some_and(|l| l < 1e-3);
    if !idle && !calm {
        return not(text!(
            "the sender had something under way all the time, and lost packets"
        ));
    }
    let mut evidence = vec![
        figure(
            text!("looks at which the program limited"),
            Value::Share(share),
        )
        .against(text!("more than half"))
        .of(&load.samples)
        .deciding(),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).of(&load.samples),
    ];
    if let Some(busy) = load.busy {
        evidence.push(
            figure(text!("time with something to send"), Value::Share(busy)).of(&load.samples),
        );
    }
    if let Some(filled) = filled {
        evidence.push(
            figure(text!("share of the path used"), Value::Share(filled))
                .against(text!("below 85 %")),
        );
    }
    let text = text!(
        "at {share} of the looks the program had given TCP nothing more to send, at {goodput}",
        share = percent(share),
        goodput = rate(load.goodput_bps)
    );
    holds(
        Strength::of(&[idle, calm && filled.is_some()]),
        text,
        evidence,
    )
}
