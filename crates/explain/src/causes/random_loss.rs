//! Random loss with a loss-based congestion control.

use analysis::{
    models,
    view::{DirectionView, Load, Sweep},
};
use model::{
    findings::{EvidenceItem, RemedyClass, Severity, Value},
    remedy::Action,
    text,
};

use super::{FULL, others, percent, rate, time, whole};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// The model explains a goodput from this multiple of its value ...
const LOW: f64 = 0.4;
/// ... to this one.
const HIGH: f64 = 2.5;
/// Minimum number of losses of UDP, one after the other counted as one, for an estimate of its loss.
const MIN_LOST: f64 = 5.0;
/// Share of the capacity above which TCP's losses may be overflow of a short queue that it fills
/// itself.
const SELF_INDUCED: f64 = 0.5;
/// Minimum gain of another congestion control that confirms the cause.
const GAIN: f64 = 1.5;
/// Minimum number of TCP's loss events with an empty queue that show loss without congestion ...
const MIN_EVENTS: usize = 3;
/// ... and their minimum share of all.
const EMPTY: f64 = 0.6;

pub(super) const CAUSE: Cause = Cause {
    code: "random-loss",
    title: "the congestion control mistakes random loss for congestion",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::Sweep],
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
        "shared-line",
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::CongestionControl,
        what: "send with bbr, first for this route only: ip route change ... congctl bbr; or find where the \
            packets get lost",
        on: On::Sender,
        why: "congestion control acts in the sender's socket; on the receiver, or on a forwarding router, it has no effect",
        actions,
    },
    about: "Reno and CUBIC interpret every lost packet as a full queue and send less. If packets \
        are lost for another reason (radio, a bad cable, a busy exchange point), the window stays \
        small regardless of the line's rate: about 1.22 / sqrt(p) packets, or 1.054 (RTT / \
        p)^(3/4). The symptoms are the same loss with UDP at rates well below capacity, losses of \
        TCP while the queue is empty, and in the long run a goodput that matches this formula. TCP \
        reacts once to what is lost within a round trip, so loss events count, not packets, and slow \
        start is left out. Several flows reach several \
        times as much. BBR, which does not interpret single losses as congestion, reaches (1 - p) \
        of the rate up to a loss of about 20 %.\n\nThis is the cause most often blamed and least \
        often proven: drops in the hosts' own buffers, faulty offloads, relays, a wrong MTU, busy \
        processors and small windows all look the same from outside. It is therefore not judged \
        where one of those is found, and ruled out where BBR was measured and gains nothing.",
    sources: &[
        models::RENO_SOURCE,
        models::CUBIC_SOURCE,
        models::BBR_SOURCE,
        "tailscale/tailscale#17993: 300 ms, 0.07 % of loss: cubic 2.1, bbr 26.7 Mbit/s",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![scope.send_with("bbr")]
}

fn test(dir: &DirectionView) -> Verdict {
    let (Some(load), Some(sweep), Some(carries)) =
        (dir.default_load(), dir.sweep(), dir.flow_capacity_bps())
    else {
        return undecided(Need::Tcp.missing(), Need::Tcp.settle());
    };
    if models::loss_based_bps(&load.cc, 0.01, 0.1, 1448.0).is_none() {
        return ruled_out(text!("{cc} is not known to be loss-based", cc = &load.cc));
    }
    if let Some(filled) = dir.utilization(&load).filter(|f| *f >= FULL) {
        return ruled_out(text!(
            "TCP reaches {filled} of the path's capacity",
            filled = percent(filled)
        ));
    }
    let Some(rtt) = load.rtt_us() else {
        return undecided(Need::LoadedProbes.missing(), Need::LoadedProbes.settle());
    };
    let mss = load.mss_bytes();
    let Some(needed) = models::loss_for_bps(&load.cc, load.goodput_bps, rtt / 1e6, mss) else {
        return ruled_out(text!("no loss explains this goodput"));
    };
    let events = Events::of(dir, &load);
    let (loss, from) = match loss(dir, &sweep, &load, needed, events.as_ref()) {
        Ok(found) => found,
        Err(verdict) => return verdict,
    };
    let Some(model) = models::loss_based_bps(&load.cc, loss, rtt / 1e6, mss) else {
        return ruled_out(text!("{cc} is not known to be loss-based", cc = &load.cc));
    };
    let ratio = load.goodput_bps / model;
    if ratio < LOW {
        return ruled_out(text!(
            "at a loss of {loss} {cc} should reach {model}, but reaches {goodput}: something else limits it",
            loss = percent(loss),
            cc = &load.cc,
            model = rate(model),
            goodput = rate(load.goodput_bps)
        ));
    }
    let bbr = dir.load_with("bbr").filter(|b| b.cc != load.cc);
    let gain = bbr.as_ref().map(|b| b.goodput_bps / load.goodput_bps);
    // The formula holds in the long run; a load of seconds also contains its start. Losses that are
    // seen one by one need no formula.
    let seen = events.as_ref().is_some_and(Events::show_loss)
        || from == From::Udp && gain.is_some_and(|g| g >= GAIN);
    if ratio > HIGH && !seen {
        return ruled_out(text!(
            "at a random loss of {loss} {cc} should reach {model}, but reaches {goodput}: the losses occur in few bursts",
            loss = percent(loss),
            cc = &load.cc,
            model = rate(model),
            goodput = rate(load.goodput_bps)
        ));
    }
    if let Some(gain) = gain.filter(|g| *g < 1.2) {
        return ruled_out(text!(
            "bbr, which is not affected by single losses, reaches only {gain} times as much",
            gain = format!("{gain:.2}")
        ));
    }
    let mut evidence = evidence(dir, &load, &sweep, loss, from, model, rtt);
    evidence.extend(events.as_ref().map(|e| e.evidence(&load)));
    if let (Some(bbr), Some(gain)) = (&bbr, gain) {
        evidence.push(
            figure(text!("gain with bbr, measured"), Value::Ratio(gain))
                .bound(text!("at least 1.5"))
                .samples(&bbr.samples),
        );
        if let Some(best) = models::bbr_bps(loss, carries) {
            evidence.push(
                figure(text!("goodput of bbr by the model"), Value::Bps(best))
                    .formula(text!("(1 - p) * capacity")),
            );
        }
    }
    let text = text!(
        "at a loss of {loss} and {rtt}, the formula predicts {model} for {cc}; it reaches {goodput} of the path's {carries}",
        loss = percent(loss),
        rtt = time(rtt),
        cc = &load.cc,
        model = rate(model),
        goodput = rate(load.goodput_bps),
        carries = rate(carries)
    );
    let scales = dir.parallel_load().is_some_and(|m| {
        let times = f64::from(m.flows) / f64::from(load.flows);
        m.goodput_bps / load.goodput_bps > (0.6 * times).min(1.5)
    });
    // With few datagrams the loss is uncertain; the model must fit over its whole interval.
    let (least, most) = sweep.below.loss_interval();
    let within = |loss: f64| {
        models::loss_based_bps(&load.cc, loss, rtt / 1e6, mss)
            .is_some_and(|model| (LOW..=HIGH).contains(&(load.goodput_bps / model)))
    };
    let signs = [
        from == From::Udp && within(least) && within(most),
        gain.is_some_and(|g| g >= GAIN),
        scales && from == From::Udp,
        events.as_ref().is_some_and(Events::show_loss),
    ];
    let verdict = confirmed(Strength::of(&signs), text, evidence);
    let verdict = match from {
        From::Udp => verdict,
        From::Tcp => verdict.masked_by(&["policer", "reordering", "receive-window", "send-buffer"]),
    };
    match gain {
        None => verdict.settled_by(text!("the same load alternating with bbr, five times each")),
        Some(_) => verdict,
    }
}

/// Where the loss was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// UDP below capacity.
    Udp,
    /// TCP's own retransmissions.
    Tcp,
}

/// TCP's losses as events, by what waited in the queue at each.
struct Events {
    /// With less than half of a full queue.
    empty: usize,
    /// All of them.
    all: usize,
    /// Events per segment.
    rate: f64,
}

impl Events {
    /// `None` if they were not seen one by one, or if no full queue is known to tell them from.
    fn of(dir: &DirectionView, load: &Load) -> Option<Self> {
        let steady = dir.steady(load)?;
        let limit = others::empty_up_to_us(dir)?;
        Some(Self {
            empty: steady.events_within(limit),
            all: steady.events_us.len(),
            rate: steady.event_rate()?,
        })
    }

    /// Whether TCP lost packets without congestion.
    fn show_loss(&self) -> bool {
        self.empty >= MIN_EVENTS && self.empty as f64 >= EMPTY * self.all as f64
    }

    /// Whether TCP lost packets only in a full queue.
    fn show_overflow(&self) -> bool {
        self.all >= MIN_EVENTS && self.empty == 0
    }

    fn evidence(&self, load: &Load) -> EvidenceItem {
        figure(
            text!(
                "loss events of TCP with an empty queue, of {all}",
                all = self.all
            ),
            Value::Count(self.empty as f64),
        )
        .bound(text!("most of them"))
        .samples(&load.samples)
    }
}

/// Loss that is not overflow of a queue, or the reason for none. `needed` is the loss that would
/// explain the goodput.
fn loss(
    dir: &DirectionView,
    sweep: &Sweep,
    load: &Load,
    needed: f64,
    events: Option<&Events>,
) -> Result<(f64, From), Verdict> {
    let filled = dir.utilization(load).unwrap_or(0.0);
    let below = &sweep.below;
    let (_, most) = below.loss_interval();
    if let Some(events) = events.filter(|e| e.show_overflow()) {
        return Err(ruled_out(text!(
            "all {all} loss events of TCP occur in a full queue",
            all = events.all
        )));
    }
    if below.loss_runs >= MIN_LOST && dir.overflow_below().is_none() {
        return Ok((below.loss_events(), From::Udp));
    }
    if let Some(events) = events.filter(|e| e.show_loss()) {
        return Ok((events.rate, From::Tcp));
    }
    if most < needed / 8.0 {
        return Err(ruled_out(text!(
            "UDP at up to {below} loses {lost} of {sent} datagrams; this goodput would require a loss of {needed}",
            below = rate(sweep.below_bps),
            lost = below.lost.to_string(),
            sent = whole(below.sent),
            needed = percent(needed)
        )));
    }
    let few = load.retransmits.is_some_and(|n| n < MIN_LOST);
    let longer = || text!("UDP for a minute at half of the path's capacity");
    match load.loss() {
        Some(lost) if lost > 0.0 && filled > SELF_INDUCED => Err(undecided(
            text!(
                "TCP loses {lost} at {filled} of the path's capacity, which may be overflow of its own queue, and the UDP test was too short to decide",
                lost = percent(lost),
                filled = percent(filled)
            ),
            longer(),
        )),
        Some(lost) if lost > 0.0 && (events.is_some() || few) => Err(undecided(
            text!(
                "TCP loses {lost}, in too few events to tell random loss from overflow",
                lost = percent(lost)
            ),
            longer(),
        )),
        Some(lost) if lost > 0.0 && lost <= most.max(2.0 * needed) => Ok((lost, From::Tcp)),
        Some(lost) if lost > 0.0 => Err(ruled_out(text!(
            "TCP loses {lost}, UDP below capacity at most {most}: TCP causes its losses itself",
            lost = percent(lost),
            most = percent(most)
        ))),
        Some(_) if below.lost > 0.0 => Err(undecided(
            text!("too few datagrams were sent to detect so small a loss"),
            longer(),
        )),
        Some(_) => Err(ruled_out(text!("neither TCP nor UDP loses packets"))),
        None => Err(undecided(
            text!("too few datagrams were sent to detect so small a loss"),
            longer(),
        )),
    }
}

fn evidence(
    dir: &DirectionView,
    load: &Load,
    sweep: &Sweep,
    loss: f64,
    from: From,
    model: f64,
    rtt: f64,
) -> Vec<EvidenceItem> {
    let below = &sweep.below;
    let seen = match from {
        From::Udp => figure(text!("UDP loss below capacity"), Value::Share(loss))
            .formula(text!(
                "{lost} of {sent} datagrams at up to {below}",
                lost = whole(below.lost),
                sent = whole(below.sent),
                below = rate(sweep.below_bps)
            ))
            .samples(&sweep.samples),
        From::Tcp => figure(text!("TCP loss"), Value::Share(loss))
            .formula(text!(
                "loss events per segment after slow start, or retransmissions without duplicates"
            ))
            .samples(&load.samples),
    };
    let mut list = vec![
        seen,
        figure(
            text!("goodput of {cc} / its model", cc = &load.cc),
            Value::Ratio(load.goodput_bps / model),
        )
        .bound(text!("between 0.4 and 2.5 in the long run"))
        .samples(&load.samples)
        .decisive(),
        figure(
            text!("goodput of {cc} by the model", cc = &load.cc),
            Value::Bps(model),
        )
        .formula(text!(
            "max(1.22 / sqrt(p), 1.054 (RTT / p)^(3/4)) * {mss} bytes / {rtt}",
            mss = whole(load.mss_bytes()),
            rtt = time(rtt)
        )),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).samples(&load.samples),
        figure(
            text!("capacity of the path"),
            Value::Bps(dir.flow_capacity_bps().unwrap_or(0.0)),
        )
        .samples(&sweep.samples),
    ];
    if let Some(added) = dir.added_delay_us(load) {
        list.push(
            figure(text!("increase of the RTT"), Value::Us(added))
                .bound(text!("no full queue"))
                .samples(&load.samples),
        );
    }
    list
}
