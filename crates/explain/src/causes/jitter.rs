//! Early end of slow start caused by delay variation.

use analysis::{
    models,
    view::{DirectionView, SlowStart},
};
use model::{
    findings::{Severity, Value},
    remedy::Action,
    text,
};

use super::{FULL, below_capacity, percent, rate, time, whole};
use crate::{
    bound,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// RTT increase that ends slow start: an eighth of the RTT within these bounds, µs
/// (HYSTART_DELAY_THRESH).
const RISE_US: [f64; 2] = [4_000.0, 16_000.0];
/// Window, as a share of the bandwidth-delay product, below which slow start ended early. If a
/// queue ends it, the path is already full.
const EARLY: f64 = 0.6;
/// Minimum gain of bbr that confirms the cause.
const GAIN: f64 = 1.1;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::JITTER,
    title: "delay variation ends slow start early",
    severity: Severity::High,
    needs: &[Need::Idle, Need::Tcp, Need::Sweep],
    masked_by: &[
        CauseCode::RELAYED_PATH,
        CauseCode::USERSPACE_TCP_STACK,
        CauseCode::UDP_SOCKET_DROPS,
        CauseCode::HOST_QUEUE_DROPS,
        CauseCode::FQ_FLOW_LIMIT,
        CauseCode::OFFLOAD_FAULT,
        CauseCode::MTU_BLACK_HOLE,
        CauseCode::CPU_CORE,
        CauseCode::CPU_SOFTIRQ,
        CauseCode::CPU_TUNNEL_THREAD,
        CauseCode::RECEIVE_WINDOW,
        CauseCode::SEND_BUFFER,
        CauseCode::APPLICATION_LIMITED,
        CauseCode::POLICER,
        CauseCode::REORDERING,
        CauseCode::RANDOM_LOSS,
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "slow start is controlled by the sender; the receiver and routers in between are not involved",
        actions,
    },
    about: "CUBIC leaves slow start when the RTT begins to rise (HyStart). Normally that means \
        that a queue builds up, and the window then equals the bandwidth-delay product. Where the \
        delay itself varies by more than an eighth of the RTT or 16 ms, CUBIC leaves slow start \
        far earlier and then grows by 5 % per RTT or by its cubic function: on a long, fast path a \
        transfer of some seconds never comes close to the line's rate. The sender's kernel counts \
        how slow start ended and at what window. A window far below rate times RTT is decisive. \
        There is almost no loss before the path is full, no window limit and no queue; transfers \
        of minutes perform better, and BBR is not affected. On a short path the growth takes no \
        time, and the same jitter does no harm.",
    sources: &[
        "Linux net/ipv4/tcp_cubic.c: hystart_update, HYSTART_DELAY_THRESH; RFC 9406",
        models::GROWTH_SOURCE,
        "docs/cases/1-dorm.md: jitter ends slow start early",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![scope.send_with("bbr")]
}

fn test(dir: &DirectionView) -> Verdict {
    let (Some(load), Some(idle), Some(sweep)) = (dir.default_load(), dir.view.idle(), dir.sweep())
    else {
        return undecided(Need::Tcp.missing(), Need::Tcp.settle());
    };
    if load.cc != "cubic" {
        return ruled_out(text!(
            "{cc} does not end slow start on delay",
            cc = &load.cc
        ));
    }
    let (filled, carries) = match below_capacity(dir, &load) {
        Ok(both) => both,
        Err(verdict) => return verdict,
    };
    let Some(p95) = idle.p95_us else {
        return undecided(
            text!("too few idle probes to measure the delay variation"),
            Need::Idle.settle(),
        );
    };
    let (above_min, rise) = (
        p95 - idle.min_us,
        (idle.min_us / 8.0).clamp(RISE_US[0], RISE_US[1]),
    );
    if above_min < rise {
        return ruled_out(text!(
            "the 95th percentile of the idle RTT is {above_min} above its minimum, and slow start ends at an increase of {rise}",
            above_min = time(above_min.max(0.0)),
            rise = time(rise)
        ));
    }
    if dir.view.idle_rise_us().is_some() {
        return undecided(
            text!("a queue that others fill varies the idle RTT"),
            text!("the same plan when nothing else uses the line"),
        );
    }
    let starts = dir.slow_starts(&load);
    if starts.is_empty() {
        return undecided(
            text!("the sender's counters do not show how slow start ended"),
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
        return ruled_out(text!(
            "slow start ended early because of delay in {early} of {all} samples",
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
        return ruled_out(text!(
            "the loss of {lost}, which UDP has as well, explains the goodput",
            lost = percent(lost)
        ));
    }
    let bbr = dir.load_with("bbr");
    let gain = bbr.as_ref().and_then(|bbr| dir.gain(bbr, &load));
    if gain.is_some_and(|g| g < GAIN) {
        return ruled_out(text!("bbr, which is not affected, reaches no more"));
    }
    let most = models::needed_bytes(carries, rtt / 1e6) / load.mss_bytes();
    let [from, to] = load.window_s;
    let window = models::cubic_growth(start, from, to, rtt / 1e6, most);
    let model = models::window_bps(window, load.mss_bytes(), rtt / 1e6);
    let mut evidence = vec![
        figure(
            text!("window at the end of slow start"),
            Value::Share(share),
        )
        .bound(text!(
            "below {bound} of the bandwidth-delay product",
            bound = Value::Share(EARLY)
        ))
        .formula(text!(
            "{start} packets of {mss} bytes / ({carries} * {rtt})",
            start = whole(start),
            mss = whole(load.mss_bytes()),
            carries = rate(carries),
            rtt = time(idle.min_us)
        ))
        .end(dir.sender().side)
        .samples(&load.samples)
        .decisive(),
        figure(
            text!(
                "samples in which it ended this way, of {all}",
                all = starts.len()
            ),
            Value::Count(early.len() as f64),
        )
        .bound(text!("at least half")),
        figure(
            text!("idle RTT, minimum to 95th percentile"),
            Value::Us(above_min),
        )
        .bound(text!(
            "above {rise}, which ends slow start",
            rise = time(rise)
        ))
        .samples(&idle.samples),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).samples(&load.samples),
        figure(
            text!("goodput of cubic by the model, from that window"),
            Value::Bps(model),
        )
        .formula(text!(
            "mean from {from} to {to} s, growing by 5 % per RTT or 0.4 t^3",
            from = whole(from),
            to = whole(to)
        )),
        figure(text!("share of the capacity used"), Value::Share(filled))
            .bound(bound::below(Value::Share(FULL))),
        figure(text!("UDP loss below capacity"), Value::Share(lost)).samples(&sweep.samples),
    ];
    if let (Some(gain), Some(bbr)) = (gain, &bbr) {
        evidence.push(
            figure(text!("gain with bbr, measured"), Value::Ratio(gain))
                .bound(bound::at_least(Value::Count(GAIN)))
                .samples(&bbr.samples),
        );
    }
    let text = text!(
        "the idle RTT rises up to {above_min} above its minimum (P95), which ends slow start at {share} of the bandwidth-delay product, and cubic reaches {goodput} of {carries}",
        above_min = time(above_min),
        share = percent(share),
        goodput = rate(load.goodput_bps),
        carries = rate(carries)
    );
    let signs = [gain.is_some(), share < EARLY / 2.0, sweep.below.lost == 0.0];
    let verdict = confirmed(Strength::of(&signs), text, evidence);
    match gain {
        Some(_) => verdict,
        None => verdict.settled_by(text!(
            "the same load alternating with bbr, and a load of one minute"
        )),
    }
}
