//! Delay that varies hurts a loss-based congestion control.

use analysis::{
    models,
    view::{DirectionView, SlowStart},
};
use model::{
    findings::{RemedyClass, Severity, Value},
    remedy::Action,
    text,
};

use super::{FULL, percent, rate, time, whole};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

/// A rise of the round trip at which slow start ends: an eighth of it, but within these bounds, µs
/// (HYSTART_DELAY_THRESH).
const RISE_US: [f64; 2] = [4_000.0, 16_000.0];
/// Window, as a share of what the path holds, below which slow start ended early. Where a queue
/// ends it, the path is full by then.
const EARLY: f64 = 0.6;
/// What bbr must gain to confirm.
const GAIN: f64 = 1.1;

pub(super) const CAUSE: Cause = Cause {
    code: "jitter",
    title: "varying delay makes the congestion control stop growing early",
    severity: Severity::High,
    needs: &[Need::Idle, Need::Tcp, Need::Sweep],
    masked_by: &[
        "relayed-path",
        "userspace-tcp-stack",
        "udp-socket-drops",
        "host-queue-drops",
        "fq-flow-limit",
        "offload-fault",
        "mtu-black-hole",
        "cpu-core",
        "cpu-softirq",
        "cpu-tunnel-thread",
        "receive-window",
        "send-buffer",
        "application-limited",
        "policer",
        "reordering",
        "random-loss",
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::CongestionControl,
        what: "send with bbr, which takes the smallest round trip and not the varying one, first for this \
            route only; for transfers that last minutes it matters less",
        on: On::Sender,
        why: "slow start and its end are the sender's; the receiver and routers between have no part in it",
        actions,
    },
    about: "CUBIC leaves slow start when the round trip begins to rise (HyStart), which normally means that a \
        queue builds, and then the window is what the path holds. Where the delay varies by itself, by \
        more than an eighth of the round trip or 16 ms, it leaves far earlier, and grows from there by \
        5 % a round trip or by its cubic function: on a long, fast path a transfer of some seconds \
        never gets near the line's rate. The sender's kernel counts how slow start ended and at what \
        window, and that decides: a window far below rate times round trip. There is no loss to speak \
        of before the path is full, no window and no queue; transfers of minutes do better, and BBR \
        is not affected. On a short path the growth takes no time, and the same jitter does no harm.",
    sources: &[
        "Linux net/ipv4/tcp_cubic.c: hystart_update, HYSTART_DELAY_THRESH; RFC 9406",
        models::GROWTH_SOURCE,
        "docs/cases/1-dorm.md: jitter ends slow start early",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![scope.send_with("bbr")]
}

fn test(way: &DirectionView) -> Verdict {
    let (Some(load), Some(idle), Some(sweep)) = (way.default_load(), way.view.idle(), way.sweep())
    else {
        return unknown(Need::Tcp.missing(), Need::Tcp.settle());
    };
    if load.cc != "cubic" {
        return not(text!(
            "{cc} does not end slow start by delay",
            cc = &load.cc
        ));
    }
    let (Some(filled), Some(carries)) = (way.utilization(&load), way.flow_capacity_bps()) else {
        return unknown(Need::Sweep.missing(), Need::Sweep.settle());
    };
    if filled >= FULL {
        return not(text!(
            "TCP takes {filled} of what the path carries",
            filled = percent(filled)
        ));
    }
    let Some(p95) = idle.p95_us else {
        return unknown(
            text!("too few idle probes to know how the delay varies"),
            Need::Idle.settle(),
        );
    };
    let (varies, rise) = (
        p95 - idle.min_us,
        (idle.min_us / 8.0).clamp(RISE_US[0], RISE_US[1]),
    );
    if varies < rise {
        return not(text!(
            "without load the round trip varies by {varies}, and slow start ends at a rise of {rise}",
            varies = time(varies.max(0.0)),
            rise = time(rise)
        ));
    }
    let starts = way.slow_starts(&load);
    if starts.is_empty() {
        return unknown(
            text!("the sender's counters do not say how slow start ended"),
            text!("the same plan with pathtwin on Linux as the sending end"),
        );
    }
    let holds_bytes = models::needed_bytes(carries, idle.min_us / 1e6);
    let share_of = |start: &SlowStart| start.window * load.mss_bytes() / holds_bytes;
    let early: Vec<f64> = starts
        .iter()
        .filter(|s| s.by_delay && share_of(s) < EARLY)
        .map(|s| s.window)
        .collect();
    let Some(start) = stats::median(&early).filter(|_| 2 * early.len() >= starts.len()) else {
        return not(text!(
            "slow start ended by delay and early in {early} of {all} samples",
            early = early.len(),
            all = starts.len()
        ));
    };
    let share = start * load.mss_bytes() / holds_bytes;
    let rtt = load.rtt_us().unwrap_or(idle.p50_us);
    let lost = sweep.below.loss();
    let needed = models::loss_for_bps(&load.cc, load.goodput_bps, rtt / 1e6, load.mss_bytes())
        .unwrap_or(0.0);
    if sweep.below.lost > 0.0 && lost > needed / 3.0 {
        return not(text!(
            "the loss of {lost} that UDP has, too, explains the goodput",
            lost = percent(lost)
        ));
    }
    let bbr = way.load_with("bbr");
    let gain = bbr.as_ref().map(|b| b.goodput_bps / load.goodput_bps);
    if gain.is_some_and(|g| g < GAIN) {
        return not(text!("bbr, which does not mind, gets no more"));
    }
    let most = carries * rtt / 1e6 / 8.0 / load.mss_bytes();
    let [from, to] = load.window_s;
    let window = models::cubic_growth(start, from, to, rtt / 1e6, most);
    let model = models::window_bps(window, load.mss_bytes(), rtt / 1e6);
    let mut evidence = vec![
        figure(
            text!("window at the end of slow start"),
            Value::Share(share),
        )
        .against(text!("below 60 % of what the path holds"))
        .by(text!(
            "{start} packets of {mss} bytes over {carries} * {rtt}",
            start = whole(start),
            mss = whole(load.mss_bytes()),
            carries = rate(carries),
            rtt = time(idle.min_us)
        ))
        .on(way.sender().side)
        .of(&load.samples)
        .deciding(),
        figure(
            text!("samples in which it ended so, of {all}", all = starts.len()),
            Value::Count(early.len() as f64),
        )
        .against(text!("at least half")),
        figure(
            text!("idle round trip, smallest to 95th percentile"),
            Value::Us(varies),
        )
        .against(text!(
            "above {rise}, which ends slow start",
            rise = time(rise)
        ))
        .of(&idle.samples),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).of(&load.samples),
        figure(
            text!("cubic by the model, from that window"),
            Value::Bps(model),
        )
        .by(text!(
            "mean from {from} to {to} s of growth by 5 % a round trip or 0.4 t^3",
            from = whole(from),
            to = whole(to)
        )),
        figure(text!("share of the path used"), Value::Share(filled)).against(text!("below 85 %")),
        figure(text!("lost of UDP below the capacity"), Value::Share(lost)).of(&sweep.samples),
    ];
    if let (Some(gain), Some(bbr)) = (gain, &bbr) {
        evidence.push(
            figure(text!("gain with bbr, measured"), Value::Ratio(gain))
                .against(text!("at least 1.1"))
                .of(&bbr.samples),
        );
    }
    let text = text!(
        "the delay varies by {varies} without load, which ends slow start at {share} of the window that the path \
         holds, and cubic gets {goodput} of {carries}",
        varies = time(varies),
        share = percent(share),
        goodput = rate(load.goodput_bps),
        carries = rate(carries)
    );
    let signs = [gain.is_some(), share < EARLY / 2.0, sweep.below.lost == 0.0];
    let verdict = holds(Strength::of(&signs), text, evidence);
    match gain {
        Some(_) => verdict,
        None => verdict.settled_by(text!(
            "the same load with bbr in turn, and one that lasts a minute"
        )),
    }
}
