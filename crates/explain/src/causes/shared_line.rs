//! Lines that other hosts use at the same time.

use analysis::view::{DirectionView, Load};
use model::{
    findings::{EvidenceItem, Severity, Value},
    net::Direction,
    remedy::{Action, Bottleneck, Flow},
    text,
    text::Text,
};

use super::{below_capacity, others::Others, percent, rate, time};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Fastest repeat over slowest from which repeats scatter.
const SCATTER: f64 = 2.0;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::SHARED_LINE,
    title: "other traffic takes part of the line",
    severity: Severity::High,
    needs: &[Need::Idle, Need::Tcp, Need::LoadedProbes, Need::Sweep],
    masked_by: &[
        CauseCode::RELAYED_PATH,
        CauseCode::HOST_QUEUE_DROPS,
        CauseCode::UDP_SOCKET_DROPS,
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Router,
        why: "the flows of other hosts share only the bottleneck's queue with these; a setting of the two ends changes the shares, but does not make the line faster",
        actions,
    },
    about: "At a bottleneck with one queue for all, a flow gets what the others leave. Their packets \
        show before the own load begins: the idle RTT is above the smallest of the measurement and \
        varies slowly, as a queue does that fills and drains, and not from packet to packet, as \
        jitter does. Under load, packets wait although the flow has too few in flight to queue by \
        itself, TCP loses packets while that queue is full, and UDP loses some at rates at which it \
        should have room, and gets more the more it sends. Repeats scatter. None of that is random \
        loss, which happens with the queue empty. BBR takes a larger part, from the others.\n\n\
        Other traffic behind a fair queue (fq_codel, cake) cannot be seen from the ends: the line is \
        then as fast as its fair share.",
    sources: &[
        "RFC 7567 section 2: with tail drop, few flows can keep others out of the queue (lock-out)",
        "Melander, Björkman, Gunningberg: A New End-to-End Probing and Analysis Method for Estimating Bandwidth Bottlenecks, Globecom 2000",
        "Ware et al.: Modeling BBR's Interactions with Loss-Based Congestion Control, IMC 2019",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let flow = match scope.place.direction {
        Some(Direction::Down) => Flow::Ingress,
        _ => Flow::Egress,
    };
    vec![
        scope.shaper(None, flow, Bottleneck::Queue),
        Action::Measure {
            what: text!("when nothing else uses the line"),
        },
    ]
}

fn test(dir: &DirectionView) -> Verdict {
    let Some(load) = dir.default_load() else {
        return undecided(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let others = Others::of(dir, &load);
    let (_, carries) = match below_capacity(dir, &load) {
        Ok(both) => both,
        Err(full) => return beside(dir, &load, &others).unwrap_or(full),
    };
    if !others.here() {
        let settle = text!("the same plan when nothing else uses the line");
        return match (others.wait(), dir.view.idle_drift_us()) {
            (true, _) => undecided(
                text!(
                    "a queue stands that this load does not fill, but no loss shows in which direction"
                ),
                settle,
            ),
            (false, Some(varies)) => undecided(
                text!(
                    "the idle RTT varies slowly by {varies}, as beside other traffic, but no queue stands",
                    varies = time(varies)
                ),
                settle,
            ),
            (false, None) => ruled_out(text!(
                "no queue stands that the measured load does not fill itself"
            )),
        };
    }
    let text = text!(
        "TCP gets {goodput} of {carries}, and packets wait and get lost in a queue that it does not fill itself",
        goodput = rate(load.goodput_bps),
        carries = rate(carries)
    );
    holds(&load, &others, text)
}

/// The verdict where TCP gets all that others, which do not give way, leave.
fn beside(dir: &DirectionView, load: &Load, others: &Others) -> Option<Verdict> {
    let share = others.taken?.share;
    let leave = dir.payload_capacity_bps(load)?;
    let text = text!(
        "TCP gets {goodput}, about the {leave} that others leave: they take {share} of the line",
        goodput = rate(load.goodput_bps),
        leave = rate(leave),
        share = percent(share)
    );
    Some(holds(load, others, text))
}

/// The finding, with all signs as its evidence.
fn holds(load: &Load, others: &Others, text: Text) -> Verdict {
    let (scatters, evidence) = evidence(load, others);
    let signs = [
        others.overflow.is_some(),
        others.taken.is_some(),
        others.lossy.is_some(),
        others.idle_us.is_some(),
        others.loaded_us.is_some(),
        others.lose(),
        scatters,
    ];
    let further = signs.iter().filter(|s| **s).count().saturating_sub(1);
    let verdict = confirmed(Strength::of(&[further > 0, further > 1]), text, evidence);
    verdict.settled_by(text!("the same plan when nothing else uses the line"))
}

/// The evidence of the datagrams of UDP, each sign of which decides.
fn in_udp(others: &Others) -> impl Iterator<Item = EvidenceItem> {
    let overflow = others.overflow.map(|overflow| {
        figure(
            text!(
                "UDP loss at {rate}, beside an RTT of {rtt}",
                rate = rate(overflow.rate_bps),
                rtt = time(overflow.rtt_us)
            ),
            Value::Share(overflow.lost),
        )
        .bound(text!("none below the capacity"))
    });
    let taken = others.taken.map(|taken| {
        let [[slow, less], [fast, more]] = [taken.slow_bps, taken.fast_bps];
        figure(
            text!("share of the full queue's rate that others take"),
            Value::Share(taken.share),
        )
        .bound(text!("none: UDP gets no more, however much it sends"))
        .formula(text!(
            "UDP gets {less} of {slow}, and {more} of {fast}",
            less = rate(less),
            slow = rate(slow),
            more = rate(more),
            fast = rate(fast)
        ))
    });
    let lossy = others.lossy.map(|lost| {
        figure(
            text!("UDP loss below the capacity, of datagrams that arrive unevenly"),
            Value::Share(lost),
        )
        .bound(text!("evenly spaced, if the loss were random"))
    });
    let all = [overflow, taken, lossy].into_iter().flatten();
    all.map(EvidenceItem::decisive)
}

/// The evidence, with whether repeats scatter.
fn evidence(load: &Load, others: &Others) -> (bool, Vec<EvidenceItem>) {
    let mut list: Vec<EvidenceItem> = in_udp(others).collect();
    if let Some(rise) = others.idle_us {
        list.push(
            figure(text!("idle RTT above the smallest of all"), Value::Us(rise))
                .bound(text!("no queue"))
                .decisive(),
        );
    }
    if let Some(rise) = others.loaded_us {
        list.push(
            figure(
                text!("smallest RTT beside TCP above the smallest of all"),
                Value::Us(rise),
            )
            .bound(text!("no queue: TCP has too little in flight for one"))
            .samples(&load.samples)
            .decisive(),
        );
    }
    let [queued, all] = others.queued;
    list.push(
        figure(
            text!("loss events of TCP in a full queue, of {all}", all = all),
            Value::Count(queued as f64),
        )
        .samples(&load.samples),
    );
    let most = load.goodputs.iter().copied().reduce(f64::max);
    let least = load.goodputs.iter().copied().reduce(f64::min);
    let ratio = most.zip(least).filter(|(_, least)| *least > 0.0);
    let ratio = ratio.map(|(most, least)| most / least);
    if let Some(ratio) = ratio {
        list.push(
            figure(text!("fastest repeat / slowest"), Value::Ratio(ratio))
                .bound(text!("close to 1"))
                .samples(&load.samples),
        );
    }
    (ratio.is_some_and(|r| r >= SCATTER), list)
}
