//! Policers: drops above a rate, without a queue.

use analysis::{
    models,
    view::{Burst, DirectionView, Load, Sweep},
};
use model::{
    findings::{Severity, Value},
    remedy::{Action, Bottleneck, Flow},
    text,
};

use super::{FULL, percent, rate, time};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::{Scope, device},
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Ratio of TCP to UDP above which a rate is not enforced: a token bucket passes little more than
/// its rate.
const EXCEEDS: f64 = 1.2;
/// Share of the rate from which TCP reaches it.
const NEAR: f64 = 0.5;
/// Median rise of TCP's own RTT, as a share of the time of a packet at the rate, above which
/// packets wait behind others.
const DELAYED: f64 = 0.5;
/// Share of reordered datagrams from which TCP's losses may be spurious.
const REORDERED: f64 = 0.001;
/// Burst that passes before an overload is dropped, in packets and as a share of the rate, below
/// which no bucket of tokens shows.
const BURST: (f64, f64) = (3.0, 0.003);
/// Increase of TCP's own RTT by packet bursts without any queue, as a share.
const SMOOTHED: f64 = 0.05;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::POLICER,
    title: "a policer drops traffic above a rate",
    severity: Severity::High,
    needs: &[Need::Idle, Need::Sweep],
    masked_by: &[
        CauseCode::HOST_QUEUE_DROPS,
        CauseCode::UDP_SOCKET_DROPS,
        CauseCode::CPU_TUNNEL_THREAD,
        CauseCode::CPU_CORE,
        CauseCode::CPU_SOFTIRQ,
        CauseCode::SHARED_LINE,
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "only a device before the policer can delay packets; behind it they are already dropped",
        actions,
    },
    about: "A policer has a bucket of tokens and no queue: traffic above the rate is dropped \
        immediately. A UDP rate sweep shows it: above a rate R, a burst passes, the bucket, then \
        exactly R arrives, the rest is \
        lost, and the RTT does not rise. A plain queue would first add delay; queue management \
        would add its target to TCP's own RTT. Datagrams \
        above the rate arrive as evenly as they were sent, while in the shortest queue each waits \
        for the one before it. TCP sees loss without prior delay and stays below \
        R; cubic may spend a short test growing towards it. BBR holds the rate at the price of \
        many retransmissions, which is no cure.",
    sources: &[
        "Flach et al.: An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016",
        "Linux net/ipv4/tcp_bbr.c: its model of a policer, loss above 50/256",
        "porech/engarde#68, tailscale/tailscale#11371",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let device = device(scope.sender());
    vec![
        scope.shaper(device, Flow::Egress, Bottleneck::Policer),
        Action::AskProvider {
            request: text!("to shape instead of policing"),
        },
    ]
}

fn test(dir: &DirectionView) -> Verdict {
    let (Some(idle), Some(sweep)) = (dir.view.idle(), dir.sweep()) else {
        return undecided(Need::Sweep.missing(), Need::Sweep.settle());
    };
    let Some(above) = sweep.above else {
        return undecided(
            text!("the sweep did not exceed the path's capacity"),
            text!("a sweep to a higher rate"),
        );
    };
    let (Some(calm), Some(added)) = (dir.calm_us(), dir.overload_rise_us()) else {
        return undecided(
            text!("no latency probes ran during the sweep"),
            text!("a plan with `probe_ms`"),
        );
    };
    if let Some(over) = dir.carried_bps().map(|bps| bps / sweep.capacity_bps)
        && over > EXCEEDS
    {
        return ruled_out(text!(
            "TCP delivers {over} as much as UDP: nothing drops traffic above that rate",
            over = Value::Ratio(over)
        ));
    }
    let packet_us = models::packet_us(sweep.capacity_bps);
    let spread = idle.variation_us().unwrap_or(0.0);
    let [slack, _] = dir.chance_us();
    if added > slack {
        return ruled_out(text!(
            "above {capacity} a queue builds up: the RTT rises by {added}",
            capacity = rate(sweep.capacity_bps),
            added = time(added)
        ));
    }
    let waits = sweep.waits_above();
    if waits == Some(true) {
        return ruled_out(text!(
            "datagrams above {capacity} wait for those before them: a queue, not a policer",
            capacity = rate(sweep.capacity_bps)
        ));
    }
    if dir.view.idle_rise_us().is_some() {
        return undecided(
            text!("a queue that others fill hides whether one builds up above the rate"),
            text!("the same plan when nothing else uses the line"),
        );
    }
    let burst = sweep.burst();
    if burst.is_some_and(|burst| !is_bucket(burst, &sweep)) {
        return ruled_out(text!(
            "no burst passes above {capacity}, as a bucket of tokens lets one pass before it drops",
            capacity = rate(sweep.capacity_bps)
        ));
    }
    let excess = 1.0 - sweep.capacity_bps / above.offered_bps;
    if above.lost < 0.5 * excess {
        return ruled_out(text!("traffic above the rate is not lost"));
    }
    let plain = dir.default_load();
    // Cubic may spend a short test growing towards the rate; any load that reaches it is
    // conclusive.
    let Some(load) = reached(dir) else {
        return undecided(
            text!(
                "traffic above the rate is lost without added delay, but TCP did not reach that rate: a policer and a fair queue then look the same"
            ),
            text!("TCP with bbr or several flows"),
        );
    };
    // Fair queues let probes bypass a full queue, but TCP itself waits in it: cubic for the AQM's
    // target, bbr for the quarter RTT that it sends too fast in one of eight RTTs.
    let loads = dir.loads();
    let alone: Vec<&Load> = loads.iter().filter(|l| l.flows == load.flows).collect();
    let highest = |of: fn(&Load) -> Option<f64>| {
        let rises = alone.iter().filter_map(|l| Some(of(l)? - calm));
        rises.reduce(f64::max)
    };
    let own = highest(|l| l.rtt_p95_us.or(l.rtt_p50_us));
    let usual = highest(|l| l.rtt_p50_us);
    let least = (SMOOTHED * calm).max(1_000.0).max(spread);
    let own_slack = slack.max(2.0 * packet_us + spread).max(least);
    // A policer sends each packet at the line's rate: at half of the time they are not delayed.
    let delayed = usual.is_some_and(|usual| usual > least.max(DELAYED * packet_us));
    // Datagrams that never wait for one another pass no queue, isolated or not; round trips of TCP
    // then rise by delayed acknowledgements and its own bursts.
    let queues = |own: &f64| waits.is_none() && (delayed || *own > own_slack);
    if let Some(own) = own.filter(queues) {
        return ruled_out(text!(
            "TCP's own RTT rises by {own}: a queue with flow isolation, not a policer",
            own = time(own)
        ));
    }
    let mut evidence = vec![
        figure(
            text!("increase of the RTT above the rate"),
            Value::Us(added),
        )
        .bound(text!("at most one packet"))
        .samples(&sweep.samples)
        .decisive(),
        figure(
            text!("maximum received rate"),
            Value::Bps(sweep.capacity_bps),
        )
        .samples(&sweep.samples),
        figure(text!("UDP loss above it"), Value::Share(above.lost))
            .bound(text!("everything above the rate"))
            .samples(&sweep.samples),
    ];
    if let Some(burst) = burst {
        let passes = figure(
            text!("burst that passes before the rate is enforced"),
            Value::Bytes(burst.bytes),
        );
        evidence.push(passes.bound(text!("the bucket")).samples(&sweep.samples));
    }
    if let Some(own) = own {
        evidence.push(
            figure(
                text!("increase of TCP's own RTT, 95th percentile"),
                Value::Us(own.max(0.0)),
            )
            .bound(text!("no queue"))
            .samples(&load.samples),
        );
    }
    let beside = plain.iter().filter(|p| p.cc != load.cc);
    for load in std::iter::once(&load).chain(beside) {
        evidence.push(
            figure(
                text!("goodput of {cc}", cc = &load.cc),
                Value::Bps(load.goodput_bps),
            )
            .samples(&load.samples),
        );
        if let Some(again) = load.retransmitted_segments() {
            evidence.push(
                figure(
                    text!("segments retransmitted by {cc}", cc = &load.cc),
                    Value::Share(again),
                )
                .samples(&load.samples),
            );
        }
    }
    let text = text!(
        "UDP above {capacity} is lost ({lost}) without added delay",
        capacity = rate(sweep.capacity_bps),
        lost = percent(above.lost)
    );
    let flat = own.is_some();
    let verdict = confirmed(
        Strength::of(&[flat, above.lost > 0.1, spread < slack]),
        text,
        evidence,
    );
    let apart = plain.as_ref().is_some_and(|load| apart(dir, &sweep, load));
    let filled = plain.as_ref().and_then(|load| dir.utilization(load));
    match filled {
        // It is present without cost: reported, but with nothing to repair.
        Some(filled) if filled >= FULL || apart => verdict.at(Severity::Info),
        _ => verdict,
    }
}

/// Returns true if a bucket of tokens explains the burst.
fn is_bucket(burst: Burst, sweep: &Sweep) -> bool {
    let (packets, share) = BURST;
    burst.bytes >= packets * sweep.below.payload && burst.share >= share
}

/// Returns true if TCP loses no more often than the path itself, and so does not reach the policer.
fn apart(dir: &DirectionView, sweep: &Sweep, load: &Load) -> bool {
    let events = dir.steady(load).and_then(|steady| steady.event_rate());
    let own = sweep.below.loss_events();
    let often = |lost: f64| lost >= 2.0 * own;
    sweep.below.loss_runs >= 3.0 && events.or_else(|| load.loss()).is_some_and(|p| !often(p))
}

/// The fastest TCP load that reaches the rate, with the fewest flows: it comes close to the rate,
/// or its bursts are lost on a path without loss below the rate.
fn reached(dir: &DirectionView) -> Option<Load> {
    let loads = dir.loads();
    let fewest = loads.iter().map(|l| l.flows).min()?;
    let lost = |l: &Load| l.flows == fewest && l.retransmits.is_some_and(|r| r > 0.0);
    let sweep = dir.sweep()?;
    let below = &sweep.below;
    let clean = below.lost == 0.0 && below.reordered_share() <= REORDERED;
    let near = |l: &Load| clean || dir.utilization(l).is_some_and(|filled| filled >= NEAR);
    loads
        .into_iter()
        .filter(|l| lost(l) && near(l))
        .max_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps))
}
