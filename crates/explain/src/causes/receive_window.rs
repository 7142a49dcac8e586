//! Receive windows that are too small.

use analysis::{
    models,
    view::{DirectionView, Load},
};
use model::{
    findings::{EvidenceItem, Severity, Value},
    remedy::{Action, Buffer},
    text,
    text::Text,
};

use super::{
    COSTS, FULL, bytes,
    limited::{self, Limited},
    percent, rate, time,
};
use crate::{
    bound,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out},
};

/// Share of what the window allows below which it is not the limit: it was for the start of a load,
/// or while the receiver waited for what was lost.
const UNUSED: f64 = 1.0 / 3.0;

/// Share of what the window allows from which it is the limit for most of a load.
const STEADY: f64 = 0.8;

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
        full queue. A window that TCP uses and that allows at least 90 % of the capacity is only a \
        note: a larger one cannot bring more than the rest.",
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
    let allowed = Allowed::of(&limited.load);
    if let Some(allowed) = allowed.as_ref().filter(|a| a.used < UNUSED) {
        return ruled_out(text!(
            "it limited the sender for {share} of its busy time, but the window allows {limit}, far above the {goodput} of TCP",
            share = percent(limited.share),
            limit = rate(allowed.bps),
            goodput = rate(limited.load.goodput_bps)
        ));
    }
    let mut needed = None;
    if let Some(allowed) = &allowed {
        limited.evidence.push(allowed.evidence(&limited.load));
        needed = limited.needs(dir, text!("required window"));
    }
    limited.evidence.extend(of_path(&limited));
    let fitting = allowed.as_ref().filter(|a| a.fits());
    let text = text(&limited, fitting);
    let [clear, clean] = limited.signs();
    let strength = Strength::of(&[clear, fitting.is_some(), clean]);
    let verdict = confirmed(strength, text, limited.evidence);
    match allowed.zip(needed) {
        Some((allowed, needed)) if allowed.is_nearly(needed) => verdict.at(Severity::Info),
        _ => verdict,
    }
}

/// What the window allows a load.
struct Allowed {
    /// The window, bytes.
    window: f64,
    /// Round trip of the load, µs.
    rtt_us: f64,
    /// Window / RTT, bit/s.
    bps: f64,
    /// Share of it that the load reaches.
    used: f64,
}

impl Allowed {
    fn of(load: &Load) -> Option<Self> {
        let (window, rtt_us) = (load.snd_wnd_p50?, load.rtt_us()?);
        let bps = models::window_bytes_bps(window, rtt_us / 1e6);
        Some(Self {
            window,
            rtt_us,
            bps,
            used: load.goodput_bps / bps,
        })
    }

    /// Returns true if the window explains the goodput.
    fn fits(&self) -> bool {
        (0.5..=1.5).contains(&self.used)
    }

    /// Returns true if it is the limit and nearly the required window: a larger one can bring no
    /// more than the rest of the capacity. After losses it costs more than that.
    fn is_nearly(&self, needed: f64) -> bool {
        self.used >= STEADY && self.window >= (1.0 - COSTS) * needed
    }

    fn evidence(&self, load: &Load) -> EvidenceItem {
        figure(text!("window / RTT"), Value::Bps(self.bps))
            .bound(text!("close to the goodput"))
            .formula(text!(
                "W / RTT = {window} * 8 / {rtt}",
                window = bytes(self.window),
                rtt = time(self.rtt_us)
            ))
            .samples(&load.samples)
    }
}

/// What the window does, with the arithmetic where it fits.
fn text(limited: &Limited, fitting: Option<&Allowed>) -> Text {
    let goodput = rate(limited.load.goodput_bps);
    match fitting {
        Some(allowed) => text!(
            "a window of {window} per {rtt} allows {limit}, and TCP reached {goodput}",
            window = bytes(allowed.window),
            rtt = time(allowed.rtt_us),
            limit = rate(allowed.bps),
            goodput = goodput
        ),
        None => text!(
            "the receive window limited the sender for {share} of its busy time, at {goodput}",
            share = percent(limited.share),
            goodput = goodput
        ),
    }
}

/// That neither loss nor the path is the limit.
fn of_path(limited: &Limited) -> impl Iterator<Item = EvidenceItem> + use<> {
    let again = limited.load.retransmitted_segments().map(|again| {
        figure(text!("segments retransmitted"), Value::Share(again))
            .bound(text!("close to nothing"))
            .samples(&limited.load.samples)
    });
    let filled = limited.filled.map(|filled| {
        figure(text!("share of the capacity used"), Value::Share(filled))
            .bound(bound::below(Value::Share(FULL)))
    });
    again.into_iter().chain(filled)
}
