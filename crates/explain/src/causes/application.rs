//! Application-limited senders.

use analysis::view::DirectionView;
use model::{
    findings::{Severity, Value},
    remedy::Action,
    text,
};

use super::{FULL, limited, percent, rate};
use crate::{
    bound,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Minimum share of application-limited samples.
const MIN_SHARE: f64 = 0.5;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::APPLICATION_LIMITED,
    title: "the sending program does not provide enough data",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::TcpInfo],
    masked_by: &[
        CauseCode::CPU_CORE,
        CauseCode::CPU_SOFTIRQ,
        CauseCode::CPU_TUNNEL_THREAD,
        CauseCode::RECEIVE_WINDOW,
        CauseCode::SEND_BUFFER,
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "the sender's socket is often empty; neither the path nor the receiver limits it",
        actions,
    },
    about: "If the socket has nothing to send, the network is not the limit. The kernel marks its \
        own estimates of the rate as limited by the application, and the time in which it had \
        something to send stays well below all of the time.",
    sources: &[
        "Linux net/ipv4/tcp_rate.c: tcp_rate_check_app_limited",
        "oracle/bpftune, case studies",
    ],
};

/// Busy share of a processor from which a program may have lacked the time to provide data.
const BUSY: f64 = 0.9;

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::FeedSender]
}

fn test(dir: &DirectionView) -> Verdict {
    let Some(load) = dir.default_load() else {
        return undecided(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let Some(share) = load.app_limited else {
        return undecided(
            text!("the sender's kernel does not report whether its program limits it"),
            text!("a sender with Linux 4.9 or newer"),
        );
    };
    if share <= MIN_SHARE {
        return ruled_out(text!(
            "the sender was application-limited in {share} of the samples",
            share = percent(share)
        ));
    }
    // The kernel marks a flow that waits for a timeout, too, since its window is not full.
    if load.goodput_bps <= 0.0 {
        return ruled_out(text!("TCP delivers nothing at all"));
    }
    let filled = dir.utilization(&load);
    if let Some(filled) = filled.filter(|f| *f >= FULL) {
        return ruled_out(text!(
            "TCP reaches {filled} of the path's capacity",
            filled = percent(filled)
        ));
    }
    if let Some(share) = dir
        .pipe_share(&load)
        .filter(|share| *share > limited::QUEUES)
    {
        return ruled_out(text!(
            "{share} of the bandwidth-delay product is in flight: data beyond the {what} would only wait in a queue",
            share = percent(share),
            what = text!("application, as counted by the kernel")
        ));
    }
    if dir.sender().is_both_ends() {
        return undecided(
            text!("both ends are one host: its processors are the path"),
            text!("the same plan between two hosts"),
        );
    }
    // The sender of a measurement always has data: if there is none, it lacked the time to provide
    // it.
    let busy = dir.sender().busiest_core(&dir.samples_of(&load));
    if busy.is_some_and(|(share, _)| share >= BUSY) {
        return undecided(
            text!("a processor of the sender was busy, so its program had no time to provide data"),
            text!("the same plan while the sender has nothing else to do"),
        );
    }
    let idle = load.busy.is_some_and(|b| b < 0.9);
    let calm = load.loss().is_some_and(|l| l < 1e-3);
    if !idle && !calm {
        return ruled_out(text!(
            "the sender had data in flight all the time, and lost packets"
        ));
    }
    let mut evidence = vec![
        figure(text!("application-limited samples"), Value::Share(share))
            .bound(text!("more than half"))
            .samples(&load.samples)
            .decisive(),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).samples(&load.samples),
    ];
    if let Some(busy) = load.busy {
        evidence.push(
            figure(text!("time with data to send"), Value::Share(busy)).samples(&load.samples),
        );
    }
    if let Some(filled) = filled {
        evidence.push(
            figure(text!("share of the capacity used"), Value::Share(filled))
                .bound(bound::below(Value::Share(FULL))),
        );
    }
    let text = text!(
        "in {share} of the samples the program had provided no more data to send, at {goodput}",
        share = percent(share),
        goodput = rate(load.goodput_bps)
    );
    confirmed(
        Strength::of(&[idle, calm && filled.is_some()]),
        text,
        evidence,
    )
}
