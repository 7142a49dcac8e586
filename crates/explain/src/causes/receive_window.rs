//! Receive windows that are too small.

use analysis::{models, view::DirectionView};
use model::{
    findings::{Severity, Value},
    remedy::{Action, Buffer},
    text,
};

use super::{FULL, bytes, limited, percent, rate, time};
use crate::{
    bound,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out},
};

/// Share of what the window allows below which it is not the limit: it was for the start of a load,
/// or while the receiver waited for what was lost.
const UNUSED: f64 = 1.0 / 3.0;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::RECEIVE_WINDOW,
    title: "the receive window is too small for this path",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::TcpInfo],
    masked_by: &[],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Receiver,
        why: "the receiver advertises the window; the sender's buffers and congestion control cannot exceed it, and routers in between are not involved",
        actions,
    },
    about: "A sender may have no more bytes in flight than the receiver's window allows. With a \
        window of W bytes no connection exceeds W / RTT, regardless of the line's rate and the \
        congestion control. The kernel counts the time in which it had data to send and was \
        limited by that window (`tcpi_rwnd_limited` of `tcpi_busy_time`). Parallel connections \
        have a window each, and UDP has none, so both are faster. Loss is close to zero, which \
        distinguishes it from random loss; the RTT does not rise, which distinguishes it from a \
        full queue.",
    sources: &[
        "Linux commit efd901741675 (tcp: record sender limits) and merge 6d5274eba485: poor performance is \
            often attributed to the congestion control when it is buffers",
        "NDT test methodology: receiver limited above 15 % of the time",
        "Linux Documentation/networking/ip-sysctl.rst: tcp_rmem, tcp_adv_win_scale",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![scope.buffer(scope.receiver(), Buffer::Receive, 2.0)]
}

fn test(dir: &DirectionView) -> Verdict {
    let mut limited = match limited::by(dir, text!("receive window"), |l| l.rwnd_limited) {
        Ok(limited) => limited,
        Err(verdict) => return verdict,
    };
    let load = limited.load.clone();
    let mut fits = false;
    let mut text = text!(
        "the receive window limited the sender for {share} of its busy time, at {goodput}",
        share = percent(limited.share),
        goodput = rate(load.goodput_bps)
    );
    if let (Some(window), Some(rtt)) = (load.snd_wnd_p50, load.rtt_us()) {
        let limit = models::window_bytes_bps(window, rtt / 1e6);
        let ratio = load.goodput_bps / limit;
        if ratio < UNUSED {
            return ruled_out(text!(
                "it limited the sender for {share} of its busy time, but the window allows {limit}, far above the {goodput} of TCP",
                share = percent(limited.share),
                limit = rate(limit),
                goodput = rate(load.goodput_bps)
            ));
        }
        fits = (0.5..=1.5).contains(&ratio);
        limited.evidence.push(
            figure(text!("window / RTT"), Value::Bps(limit))
                .bound(text!("close to the goodput"))
                .formula(text!(
                    "W / RTT = {window} * 8 / {rtt}",
                    window = bytes(window),
                    rtt = time(rtt)
                ))
                .samples(&load.samples),
        );
        if fits {
            text = text!(
                "a window of {window} per {rtt} allows {limit}, and TCP reached {goodput}",
                window = bytes(window),
                rtt = time(rtt),
                limit = rate(limit),
                goodput = rate(load.goodput_bps)
            );
        }
        limited.needs(dir, text!("required window"));
    }
    if let Some(again) = load.retransmitted_segments() {
        limited.evidence.push(
            figure(text!("segments retransmitted"), Value::Share(again))
                .bound(text!("close to nothing"))
                .samples(&load.samples),
        );
    }
    if let Some(filled) = limited.filled {
        limited.evidence.push(
            figure(text!("share of the capacity used"), Value::Share(filled))
                .bound(bound::below(Value::Share(FULL))),
        );
    }
    let [clear, clean] = limited.signs();
    confirmed(Strength::of(&[clear, fits, clean]), text, limited.evidence)
}
