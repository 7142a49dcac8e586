//! Delay that varies hurts a loss-based congestion control.

use model::findings::{RemedyClass, Severity, Value};

use super::{FULL, percent, rate, time};
use crate::{
    cause::{Advice, Cause, Need, On, Test},
    models,
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
    view::Way,
};

/// Variation of the idle round trip that counts, µs, from the median to the 95th percentile ...
const VARIES_US: f64 = 2_000.0;
/// ... and as a share of the round trip.
const VARIES: f64 = 0.05;
/// What bbr must gain to confirm.
const GAIN: f64 = 1.3;

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
    test: Test::Way(test),
    remedy: Advice {
        class: RemedyClass::CongestionControl,
        what: "send with bbr, which takes the smallest round trip and not the varying one, first for this \
            route only; for transfers that last minutes it matters less",
        on: On::Sender,
        why: "slow start and its end are the sender's; the receiver and routers between have no part in it",
    },
    about: "CUBIC leaves slow start when the round trip begins to rise (HyStart), which normally means that a \
        queue builds. On a path whose delay varies by itself it leaves far too early, and then grows \
        slowly: on a long, fast path a transfer of some seconds never gets near the line's rate. There is \
        no loss to speak of, no window and no queue; longer transfers do better, and BBR is not \
        affected. Varying delay can also fire retransmission timers for nothing (DSACK).",
    sources: &[
        "Linux net/ipv4/tcp_cubic.c: hystart_update, HYSTART_DELAY; RFC 9406",
        "docs/cases/1-dorm.md: jitter ends slow start early",
    ],
};

fn test(way: &Way) -> Verdict {
    let (Some(load), Some(idle), Some(sweep)) = (way.plain(), way.view.idle(), way.sweep()) else {
        return unknown(Need::Tcp.missing(), Need::Tcp.settle());
    };
    if load.cc != "cubic" {
        return not(format!("{} does not end slow start by delay", load.cc));
    }
    let Some(filled) = way.filled(&load) else {
        return unknown(Need::Sweep.missing(), Need::Sweep.settle());
    };
    if filled >= FULL {
        return not(format!(
            "TCP takes {} of what the path carries",
            percent(filled)
        ));
    }
    let Some(p95) = idle.p95_us else {
        return unknown(
            "too few idle probes to know how the delay varies",
            Need::Idle.settle(),
        );
    };
    let varies = p95 - idle.p50_us;
    if varies < VARIES_US || varies < VARIES * idle.p50_us {
        return not(format!(
            "without load the round trip varies by {} only",
            time(varies.max(0.0))
        ));
    }
    let rtt = load.rtt_us().unwrap_or(idle.p50_us);
    let needed = models::loss_for_bps(&load.cc, load.goodput_bps, rtt / 1e6, load.mss_bytes())
        .unwrap_or(0.0);
    let lost = load.lost().unwrap_or(0.0);
    if lost > needed / 3.0 {
        return not(format!(
            "the loss of {} explains the goodput",
            percent(lost)
        ));
    }
    let bbr = way.with("bbr");
    let gain = bbr.as_ref().map(|b| b.goodput_bps / load.goodput_bps);
    if gain.is_some_and(|g| g < GAIN) {
        return not("bbr, which does not mind, gets no more");
    }
    let samples = way.tcp_samples();
    let hystart = way
        .sender()
        .moved(&samples, "nstat", &["HystartDelayDetect"]);
    let mut evidence = vec![
        figure(
            "idle round trip, median to 95th percentile",
            Value::Us(varies),
        )
        .against("above 2 ms and 5 %")
        .of(&idle.samples)
        .deciding(),
        figure("lost", Value::Share(lost))
            .against("far below what would explain the goodput")
            .of(&load.samples),
        figure("loss that would explain it", Value::Share(needed)),
        figure("share of the path used", Value::Share(filled)).against("below 85 %"),
        figure("capacity by UDP", Value::Bps(sweep.capacity_bps)).of(&sweep.samples),
    ];
    if let (Some(gain), Some(bbr)) = (gain, &bbr) {
        evidence.push(
            figure("gain with bbr, measured", Value::Ratio(gain))
                .against("at least 1.3")
                .of(&bbr.samples),
        );
    }
    if let Some(times) = hystart {
        evidence
            .push(figure("slow starts ended by delay", Value::Count(times)).on(way.sender().side));
    }
    let says = format!(
        "the delay varies by {} without load, next to nothing is lost, and cubic gets {} of {}",
        time(varies),
        rate(load.goodput_bps),
        rate(way.carries_bps().unwrap_or(sweep.capacity_bps))
    );
    let signs = [
        gain.is_some(),
        hystart.is_some_and(|h| h > 0.0),
        lost == 0.0,
    ];
    let verdict = holds(Strength::of(&signs), says, evidence);
    match gain {
        Some(_) => verdict,
        None => verdict.settled_by("the same load with bbr in turn, and one that lasts a minute"),
    }
}
