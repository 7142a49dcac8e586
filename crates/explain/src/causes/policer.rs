//! A policer drops above a rate, without a queue.

use analysis::view::{DirectionView, Load};
use model::{
    findings::{RemedyClass, Severity, Value},
    remedy::{Action, Bottleneck, Flow},
    text,
};

use super::{FULL, percent, rate, time};
use crate::{
    advice::{Scope, device},
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

/// Bits of a full packet.
const PACKET_BITS: f64 = 1500.0 * 8.0;

/// What trains of packets add to TCP's own round trip without any queue, as a share of it.
const SMOOTHED: f64 = 0.05;

pub(super) const CAUSE: Cause = Cause {
    code: "policer",
    title: "a policer drops what exceeds a rate",
    severity: Severity::High,
    needs: &[Need::Idle, Need::Sweep],
    masked_by: &[
        "host-queue-drops",
        "udp-socket-drops",
        "cpu-tunnel-thread",
        "cpu-core",
        "cpu-softirq",
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::AvoidLimit,
        what: "shape to a little below the policed rate (cake, or fq with a maximum rate) where the data \
            is sent; ask who runs the line to shape and not to police",
        on: On::Sender,
        why: "only what is in front of the policer can keep packets back; behind it they are gone",
        actions,
    },
    about: "A policer has a bucket of tokens and no queue: what exceeds the rate is dropped at once. UDP at \
        rising rates shows it: from a rate R on, exactly R arrives, the rest is lost, and the round trip \
        does not rise. A plain queue would first add delay; queue management would add its target to \
        TCP's own round trip. TCP sees loss without any sign before it, and keeps below R; cubic may \
        spend a short test growing towards it. BBR holds \
        the rate at the price of many retransmissions, which is no cure.",
    sources: &[
        "Flach et al.: An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016",
        "Linux net/ipv4/tcp_bbr.c: its model of a policer, loss above 50/256",
        "porech/engarde#68, tailscale/tailscale#11371",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let device = device(scope.sender());
    vec![
        scope.shaper(device, Flow::Egress, Bottleneck::Policer),
        Action::AskProvider {
            request: text!("to shape and not to police"),
        },
    ]
}

fn test(way: &DirectionView) -> Verdict {
    let (Some(idle), Some(sweep)) = (way.view.idle(), way.sweep()) else {
        return unknown(Need::Sweep.missing(), Need::Sweep.settle());
    };
    let Some(above) = sweep.above else {
        return unknown(
            text!("the sweep did not get beyond what the path carries"),
            text!("a sweep to a higher rate"),
        );
    };
    let Some(rtt) = above.rtt_us else {
        return unknown(
            text!("no latency probes ran beside the sweep"),
            text!("a plan with `probe_ms`"),
        );
    };
    let packet_us = PACKET_BITS / sweep.capacity_bps * 1e6;
    let spread = idle.p95_us.map_or(0.0, |p95| p95 - idle.p50_us);
    let slack = (1.2 * packet_us).max(300.0).max(0.3 * spread);
    let calm = sweep.below_rtt_us.unwrap_or(0.0).max(idle.p50_us);
    let added = rtt - calm;
    if added > slack {
        return not(text!(
            "above {capacity} a queue builds: the round trip rises by {added}",
            capacity = rate(sweep.capacity_bps),
            added = time(added)
        ));
    }
    let excess = 1.0 - sweep.capacity_bps / (above.sent_bps * 1.02);
    if above.lost < 0.5 * excess {
        return not(text!("what exceeds the rate is not lost"));
    }
    let plain = way.default_load();
    // Cubic may spend a short test growing towards the rate: whoever gets to it shows what is
    // there.
    let Some(load) = reached(way) else {
        return unknown(
            text!(
                "what exceeds the rate is lost without delay, but TCP did not reach that rate: a policer and a \
             fair queue look the same then"
            ),
            text!("TCP with bbr or several flows"),
        );
    };
    // Fair queues let the probes pass a full queue, but TCP itself waits in it: cubic for the
    // target of the queue's management, bbr for what it sends too fast in one round trip of eight,
    // a quarter of it.
    let alone = |l: &Load| l.flows == load.flows;
    let own = |l: &Load| Some(l.rtt_p95_us.or(l.rtt_p50_us)? - calm);
    let loads = way.loads();
    let own = loads.iter().filter(|l| alone(l)).filter_map(own);
    let own = own.reduce(f64::max);
    let own_slack = slack
        .max(2.0 * packet_us + spread)
        .max(1_000.0)
        .max(SMOOTHED * calm);
    if let Some(own) = own.filter(|own| *own > own_slack) {
        return not(text!(
            "TCP's own round trip rises by {own}: a queue that keeps flows apart, not a policer",
            own = time(own)
        ));
    }
    let mut evidence = vec![
        figure(
            text!("added to the round trip above the rate"),
            Value::Us(added.max(0.0)),
        )
        .against(text!("no more than a packet"))
        .of(&sweep.samples)
        .deciding(),
        figure(text!("carried at most"), Value::Bps(sweep.capacity_bps)).of(&sweep.samples),
        figure(text!("lost of UDP above it"), Value::Share(above.lost))
            .against(text!("all that exceeds the rate"))
            .of(&sweep.samples),
    ];
    if let Some(own) = own {
        evidence.push(
            figure(
                text!("added to TCP's own round trip, 95th percentile"),
                Value::Us(own.max(0.0)),
            )
            .against(text!("no queue"))
            .of(&load.samples),
        );
    }
    let beside = plain.iter().filter(|p| p.cc != load.cc);
    for load in std::iter::once(&load).chain(beside) {
        evidence.push(
            figure(
                text!("goodput of {cc}", cc = &load.cc),
                Value::Bps(load.goodput_bps),
            )
            .of(&load.samples),
        );
        if let Some(again) = load.retransmitted_segments() {
            evidence.push(
                figure(
                    text!("sent again by {cc}", cc = &load.cc),
                    Value::Share(again),
                )
                .of(&load.samples),
            );
        }
    }
    let text = text!(
        "of UDP above {capacity} all that exceeds it is lost ({lost}) and nothing is delayed",
        capacity = rate(sweep.capacity_bps),
        lost = percent(above.lost)
    );
    let flat = own.is_some();
    let verdict = holds(
        Strength::of(&[flat, above.lost > 0.1, spread < slack]),
        text,
        evidence,
    );
    // TCP that loses no more than the path by itself does not get as far as the policer.
    let apart = plain
        .as_ref()
        .and_then(Load::loss)
        .is_some_and(|lost| sweep.below.lost >= 3.0 && lost < 2.0 * sweep.below.loss());
    let filled = plain.as_ref().and_then(|load| way.utilization(load));
    match filled {
        Some(filled) if filled >= FULL || apart => verdict.at(Severity::Low),
        _ => verdict,
    }
}

/// The load of TCP with the fewest flows that got furthest, of those that lost something.
fn reached(way: &DirectionView) -> Option<Load> {
    let loads = way.loads();
    let fewest = loads.iter().map(|l| l.flows).min()?;
    let lost = |l: &Load| l.flows == fewest && l.retransmits.is_some_and(|r| r > 0.0);
    loads
        .into_iter()
        .filter(lost)
        .max_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps))
}
