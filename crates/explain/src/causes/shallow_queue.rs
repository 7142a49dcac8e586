//! Queues that drop before TCP fills the path.

mod bursts;
mod signs;

use analysis::{
    models,
    view::{DirectionView, Load, Sweep},
};
use model::{
    findings::{EvidenceItem, Severity, Value},
    remedy::Action,
    text,
};

use self::{
    bursts::Bursts,
    signs::{MANAGED_US, few_wait, losses, rise_us},
};
use super::{
    FULL, bbr_may_help, below_capacity, bytes, least_gain, limited, percent, random_loss::exceeds,
    rate, time, whole,
};
use crate::{
    bound,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Gain of bbr, which needs no long queue, that leaves no other explanation.
const SURE: f64 = 1.5;
/// Share of the retransmissions up to which those that were not needed look like overtaken packets.
const TWICE: f64 = 0.02;
/// Share of the time from which a window limits a load.
const LIMITED: f64 = 0.05;
/// Minimum number of loss events after slow start for their rate.
const MIN_EVENTS: usize = 3;
/// Ratio of the losses of a whole load to those by the rate after slow start from which slow start
/// lost more.
const BURSTS: f64 = 3.0;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::SHALLOW_QUEUE,
    title: "the bottleneck's queue drops before TCP fills the path",
    severity: Severity::High,
    needs: &[Need::Idle, Need::Tcp, Need::Sweep, Need::TcpInfo],
    masked_by: &[
        CauseCode::RELAYED_PATH,
        CauseCode::USERSPACE_TCP_STACK,
        CauseCode::UDP_SOCKET_DROPS,
        CauseCode::HOST_QUEUE_DROPS,
        CauseCode::OFFLOAD_FAULT,
        CauseCode::MTU_BLACK_HOLE,
        CauseCode::FRAGMENTATION,
        CauseCode::CPU_CORE,
        CauseCode::CPU_SOFTIRQ,
        CauseCode::CPU_TUNNEL_THREAD,
        CauseCode::RECEIVE_WINDOW,
        CauseCode::SEND_BUFFER,
        CauseCode::APPLICATION_LIMITED,
        CauseCode::LEFTOVER_SHAPER,
        CauseCode::SHARED_LINE,
        CauseCode::BUFFERBLOAT_LOCAL,
        CauseCode::POLICER,
        CauseCode::REORDERING,
        CauseCode::JITTER,
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "the sender decides how much it sends at once; the queue itself belongs to whoever runs the bottleneck",
        actions,
    },
    about: "In slow start TCP sends twice as much as the path delivers, and half of its window waits \
        at the bottleneck. A queue far shorter than the bandwidth-delay product, or queue management \
        with a target far below the RTT, drops or marks packets while the window is still small. Reno and CUBIC then grow \
        slowly, over many round trips: on a long path a transfer of some seconds stays far below \
        the rate. UDP, which is sent evenly, loses nothing below the capacity, so that this is no \
        random loss; its overload is queued, so that this is no policer; and bbr, which paces its \
        packets and does not interpret single losses as congestion, gets more. A queue of a few \
        packets is too short for that, too: what a sender or its network card sends at once overflows it, and \
        bbr loses a fifth of its packets and more, which helps nobody. A queue of one \
        bandwidth-delay product avoids it, divided by the square root of the number of flows where \
        there are many.",
    sources: &[
        "Appenzeller, Keslassy, McKeown: Sizing Router Buffers, SIGCOMM 2004",
        "RFC 8033 section 4.2, RFC 8289 section 4.4: targets and intervals follow the RTT",
        models::GROWTH_SOURCE,
        "Linux net/ipv4/tcp_bbr.c: bursts of up to 64 kB (bbr_tso_segs_goal), bbr_lt_loss_thresh",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let ask = Action::AskProvider {
        request: text!(
            "for a queue that holds a bandwidth-delay product at the bottleneck, or for a target of its management that fits the RTT"
        ),
    };
    let send = bbr_may_help(scope).then(|| scope.send_with("bbr"));
    send.into_iter().chain([ask]).collect()
}

fn test(dir: &DirectionView) -> Verdict {
    let (Some(load), Some(base_us), Some(sweep)) =
        (dir.default_load(), dir.view.base_us(), dir.sweep())
    else {
        return undecided(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let bursts = Bursts::of(dir, &load, base_us);
    if bursts.is_none() && !models::is_loss_based(&load.cc) {
        return ruled_out(text!("{cc} is not known to be loss-based", cc = &load.cc));
    }
    let (filled, carries) = match below_capacity(dir, &load) {
        Ok(both) => both,
        Err(verdict) => return verdict,
    };
    if let Some(other) = other_reason(dir, &load, &sweep) {
        return other;
    }
    let rise_us = rise_us(&load, base_us);
    if !few_wait(&load, base_us) {
        return ruled_out(text!(
            "TCP's own RTT rises by {own}: it fills a queue",
            own = time(rise_us)
        ));
    }
    let Some(signals) = dir.signals(&load).or(load.retransmits) else {
        return undecided(Need::TcpInfo.missing(), Need::TcpInfo.settle());
    };
    if signals == 0.0 {
        return ruled_out(text!("TCP loses no packet, and none is marked"));
    }
    if let Some(bursts) = bursts {
        return bursts.verdict(dir, &load, &sweep, [filled, carries], [base_us, signals]);
    }
    if may_be_random(dir, &load, &sweep, signals) {
        return undecided(
            text!(
                "TCP loses no more packets in slow start than after it, as at random, and the UDP test was too short to see as few"
            ),
            text!("UDP for a minute at half of the path's capacity"),
        );
    }
    let bbr = dir.load_with("bbr");
    let gain = bbr.as_ref().and_then(|bbr| dir.gain(bbr, &load));
    let (Some(bbr), Some(gain)) = (bbr, gain) else {
        return undecided(
            text!("bbr was not measured, which a short queue does not limit"),
            text!("the same load alternating with bbr, five times each"),
        );
    };
    let least = least_gain(filled);
    if gain < least {
        return ruled_out(text!(
            "bbr, which is not affected by single losses, reaches only {gain} times as much",
            gain = Value::Count(gain)
        ));
    }
    let mut evidence = vec![
        figure(text!("gain with bbr, measured"), Value::Ratio(gain))
            .bound(bound::at_least(Value::Ratio(least)))
            .samples(&bbr.samples)
            .decisive(),
        figure(text!("share of the capacity used"), Value::Share(filled))
            .bound(bound::below(Value::Share(FULL)))
            .samples(&load.samples),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).samples(&load.samples),
    ];
    evidence.extend(losses(dir, &load, &sweep, base_us, signals));
    evidence.extend(depth(dir, &sweep, base_us));
    let queued = sweep.waits_above() == Some(true);
    let text = text!(
        "TCP loses packets although UDP at up to {below} loses none, and its own RTT rises by only {own}: {cc} reaches {filled} of the path's {carries}, bbr {gain} times as much",
        below = rate(sweep.below_bps),
        own = time(rise_us.max(0.0)),
        cc = &load.cc,
        filled = percent(filled),
        carries = rate(carries),
        gain = Value::Count(gain)
    );
    confirmed(Strength::of(&[queued, gain >= SURE]), text, evidence)
}

/// Round trip from which packets of TCP wait where queue management may drop, µs: above its target,
/// and what the idle one reaches by chance.
fn waits_from_us(dir: &DirectionView) -> f64 {
    let idle = dir.view.idle();
    let usual = idle.and_then(|idle| idle.p99_us.or(idle.p95_us));
    usual.map_or(f64::INFINITY, |us| us + MANAGED_US)
}

/// The verdict where something else than a short queue explains the losses of TCP, or may.
fn other_reason(dir: &DirectionView, load: &Load, sweep: &Sweep) -> Option<Verdict> {
    let below = &sweep.below;
    if below.loss_runs > 0.0 {
        return Some(ruled_out(text!(
            "UDP at up to {below} loses {lost} of {sent} datagrams, too: the losses do not come with TCP's bursts",
            below = rate(sweep.below_bps),
            lost = whole(below.lost),
            sent = whole(below.sent)
        )));
    }
    if sweep.waits_above() == Some(false) {
        return Some(ruled_out(text!(
            "datagrams above {capacity} do not wait for those before them: no queue",
            capacity = rate(sweep.capacity_bps)
        )));
    }
    let limited = limited::window_share(load);
    if limited >= LIMITED {
        return Some(ruled_out(text!(
            "a window limits TCP for {share} of the time",
            share = percent(limited)
        )));
    }
    if overtaken(load, sweep) {
        return Some(undecided(
            text!("TCP saw reordering, which it may have taken for loss"),
            text!("the same plan without reordering"),
        ));
    }
    let varies = dir.view.idle_drift_us().or(dir.view.idle_rise_us());
    varies.map(super::others::may_have_dropped)
}

/// Returns true if TCP saw packets overtaken, and not only some of its own that it had sent twice.
fn overtaken(load: &Load, sweep: &Sweep) -> bool {
    let Some(seen) = load.reord_seen else {
        return false;
    };
    let few = load.retransmits.is_some_and(|again| seen <= TWICE * again);
    seen > 0.0 && !(few && sweep.below.reordered == 0.0)
}

/// Returns true if the `signals` of a whole load are about as frequent as its losses after slow
/// start, and those not more frequent than UDP's beyond chance: a short queue loses much of what
/// slow start sends. Losses that mostly occur while packets wait are not random.
fn may_be_random(dir: &DirectionView, load: &Load, sweep: &Sweep, signals: f64) -> bool {
    let Some(steady) = dir.steady(load) else {
        return false;
    };
    let events = steady.events_us.len();
    if 2 * steady.events_within(waits_from_us(dir)) < events {
        return false;
    }
    if events < MIN_EVENTS || exceeds(events, steady.segments, &sweep.below) {
        return false;
    }
    let (Some(rate), Some(segments)) = (steady.event_rate(), dir.sent_segments(load)) else {
        return false;
    };
    signals <= BURSTS * rate * segments
}

/// The depth of the full queue beside the bandwidth-delay product, where it delays probes.
fn depth(dir: &DirectionView, sweep: &Sweep, base_us: f64) -> Option<EvidenceItem> {
    let [chance_us, _] = dir.chance_us();
    let full_us = dir.overload_rise_us().filter(|us| *us > chance_us)?;
    let holds = |us: f64| models::needed_bytes(sweep.capacity_bps, us / 1e6);
    let item = figure(text!("the full queue"), Value::Bytes(holds(full_us)));
    let item = item.formula(text!(
        "{capacity} * {delay}, its increase of the RTT above the capacity; the bandwidth-delay product is {bdp}",
        capacity = rate(sweep.capacity_bps),
        delay = time(full_us),
        bdp = bytes(holds(base_us))
    ));
    Some(item.samples(&sweep.samples))
}
