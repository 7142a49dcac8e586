//! A loss-based congestion control takes random loss for congestion.

use analysis::{
    models,
    view::{DirectionView, Load, Sweep},
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

/// The model explains a goodput between this share of it ...
const LOW: f64 = 0.4;
/// ... and this one.
const HIGH: f64 = 2.5;
/// Lost datagrams from which UDP's loss is a figure of its own.
const ENOUGH: f64 = 5.0;
/// From this share of the path on, TCP's losses may be those of a short queue that it filled
/// itself.
const OWN: f64 = 0.5;
/// What another congestion control must gain to confirm.
const GAIN: f64 = 1.5;

pub(super) const CAUSE: Cause = Cause {
    code: "random-loss",
    title: "the congestion control takes random loss for congestion",
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
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::CongestionControl,
        what: "send with bbr, first for this route only: ip route change ... congctl bbr; or find where the \
            packets get lost",
        on: On::Sender,
        why: "congestion control acts in the sender's socket; on the receiver, or on a router that only \
            forwards, it changes nothing",
        actions,
    },
    about: "Reno and CUBIC take every lost packet for a full queue and send less. If packets get lost for \
        another reason (radio, a bad cable, a busy exchange point), the window stays small however fast \
        the line is: about 1.22 / sqrt(p) packets, or 1.054 (RTT / p)^(3/4). It shows as loss that UDP has, too, \
        at rates that the path carries easily, a round trip that does not rise, and a goodput that this \
        formula gives. Several flows get several times as much. BBR, which does not take single losses \
        for congestion, gets (1 - p) of the rate up to a loss of about 20 %.\n\nThis is the cause that is \
        most often blamed and least often shown: drops in the hosts' own buffers, faulty offloads, \
        relays, a wrong MTU, busy processors and small windows all look alike from the outside. It is \
        therefore not judged where one of those is found, and ruled out where BBR was tried and gains \
        nothing.",
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

fn test(way: &DirectionView) -> Verdict {
    let (Some(load), Some(sweep), Some(carries)) =
        (way.default_load(), way.sweep(), way.flow_capacity_bps())
    else {
        return unknown(Need::Tcp.missing(), Need::Tcp.settle());
    };
    if models::loss_based_bps(&load.cc, 0.01, 0.1, 1448.0).is_none() {
        return not(text!("{cc} is not known to be loss-based", cc = &load.cc));
    }
    if let Some(filled) = way.utilization(&load).filter(|f| *f >= FULL) {
        return not(text!(
            "TCP takes {filled} of what the path carries",
            filled = percent(filled)
        ));
    }
    let Some(rtt) = load.rtt_us() else {
        return unknown(Need::LoadedProbes.missing(), Need::LoadedProbes.settle());
    };
    let mss = load.mss_bytes();
    let Some(needed) = models::loss_for_bps(&load.cc, load.goodput_bps, rtt / 1e6, mss) else {
        return not(text!("no loss explains this goodput"));
    };
    let filled = way.utilization(&load).unwrap_or(0.0);
    let (loss, from) = match loss(&sweep, &load, needed, filled) {
        Ok(found) => found,
        Err(verdict) => return verdict,
    };
    let Some(model) = models::loss_based_bps(&load.cc, loss, rtt / 1e6, mss) else {
        return not(text!("{cc} is not known to be loss-based", cc = &load.cc));
    };
    let ratio = load.goodput_bps / model;
    if ratio < LOW {
        return not(text!(
            "with a loss of {loss} {cc} would get {model}, and gets {goodput}: something else holds it back",
            loss = percent(loss),
            cc = &load.cc,
            model = rate(model),
            goodput = rate(load.goodput_bps)
        ));
    }
    if ratio > HIGH {
        return not(text!(
            "with a loss of {loss} at random {cc} would get {model}, and gets {goodput}: the losses come in few bursts",
            loss = percent(loss),
            cc = &load.cc,
            model = rate(model),
            goodput = rate(load.goodput_bps)
        ));
    }
    let bbr = way.load_with("bbr");
    let gain = bbr.as_ref().map(|b| b.goodput_bps / load.goodput_bps);
    if let Some(gain) = gain.filter(|g| *g < 1.2) {
        return not(text!(
            "bbr, which does not mind single losses, gets {gain} times as much",
            gain = format!("{gain:.2}")
        ));
    }
    let mut evidence = evidence(way, &load, &sweep, loss, from, model, rtt);
    if let (Some(bbr), Some(gain)) = (&bbr, gain) {
        evidence.push(
            figure(text!("gain with bbr, measured"), Value::Ratio(gain))
                .against(text!("at least 1.5"))
                .of(&bbr.samples),
        );
        if let Some(best) = models::bbr_bps(loss, carries) {
            evidence.push(
                figure(text!("bbr by the model"), Value::Bps(best)).by(text!("(1 - p) * capacity")),
            );
        }
    }
    let text = text!(
        "at a loss of {loss} and {rtt}, {cc} gets {model} by the formula and {goodput} here, of {carries} that the path carries",
        loss = percent(loss),
        rtt = time(rtt),
        cc = &load.cc,
        model = rate(model),
        goodput = rate(load.goodput_bps),
        carries = rate(carries)
    );
    let scales = way.parallel_load().is_some_and(|m| {
        let times = f64::from(m.flows) / f64::from(load.flows);
        m.goodput_bps / load.goodput_bps > (0.6 * times).min(1.5)
    });
    // Few datagrams leave the loss open; the model has to hold over the whole interval.
    let (least, most) = sweep.below.loss_interval();
    let within = |loss: f64| {
        models::loss_based_bps(&load.cc, loss, rtt / 1e6, mss)
            .is_some_and(|model| (LOW..=HIGH).contains(&(load.goodput_bps / model)))
    };
    let signs = [
        from == From::Udp && within(least) && within(most),
        gain.is_some_and(|g| g >= GAIN),
        scales && from == From::Udp,
    ];
    let verdict = holds(Strength::of(&signs), text, evidence);
    let verdict = match from {
        From::Udp => verdict,
        From::Tcp => verdict.unless(&["policer", "reordering", "receive-window", "send-buffer"]),
    };
    match gain {
        None => verdict.settled_by(text!("the same load with bbr in turn, five times each")),
        Some(_) => verdict,
    }
}

/// Where the loss was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// UDP below what the path carries.
    Udp,
    /// TCP's own retransmissions.
    Tcp,
}

/// The loss that is not the own queue's, or why there is none. `needed` is the loss that would
/// explain the goodput.
fn loss(sweep: &Sweep, load: &Load, needed: f64, filled: f64) -> Result<(f64, From), Verdict> {
    let below = &sweep.below;
    let (_, most) = below.loss_interval();
    if below.lost >= ENOUGH {
        return Ok((below.loss(), From::Udp));
    }
    if most < needed / 8.0 {
        return Err(not(text!(
            "UDP at up to {below} loses {lost} of {sent} datagrams; it would take a loss of {needed}",
            below = rate(sweep.below_bps),
            lost = below.lost.to_string(),
            sent = whole(below.sent),
            needed = percent(needed)
        )));
    }
    match load.loss() {
        Some(lost) if lost > 0.0 && filled > OWN => Err(unknown(
            text!(
                "TCP loses {lost} at {filled} of what the path carries, where it may be its own queue's overflow, \
                 and UDP was too short to tell",
                lost = percent(lost),
                filled = percent(filled)
            ),
            text!("UDP for a minute at half of what the path carries"),
        )),
        Some(lost) if lost > 0.0 && lost <= most.max(2.0 * needed) => Ok((lost, From::Tcp)),
        Some(lost) if lost > 0.0 => Err(not(text!(
            "TCP loses {lost}, UDP below what the path carries at most {most}: TCP's losses are of its own making",
            lost = percent(lost),
            most = percent(most)
        ))),
        Some(_) => Err(not(text!("nothing is lost, of TCP nor of UDP"))),
        None => Err(unknown(
            text!("too few datagrams were sent to see a loss this small"),
            text!("UDP for a minute at half of what the path carries"),
        )),
    }
}

fn evidence(
    way: &DirectionView,
    load: &Load,
    sweep: &Sweep,
    loss: f64,
    from: From,
    model: f64,
    rtt: f64,
) -> Vec<model::findings::EvidenceItem> {
    let below = &sweep.below;
    let seen = match from {
        From::Udp => figure(text!("lost of UDP below the capacity"), Value::Share(loss))
            .by(text!(
                "{lost} of {sent} datagrams at up to {below}",
                lost = whole(below.lost),
                sent = whole(below.sent),
                below = rate(sweep.below_bps)
            ))
            .of(&sweep.samples),
        From::Tcp => figure(text!("lost of TCP"), Value::Share(loss))
            .by(text!("sent again, without what the receiver had twice"))
            .of(&load.samples),
    };
    let mut list = vec![
        seen,
        figure(
            text!("goodput of {cc} over its model", cc = &load.cc),
            Value::Ratio(load.goodput_bps / model),
        )
        .against(text!("between 0.4 and 2.5"))
        .of(&load.samples)
        .deciding(),
        figure(text!("{cc} by the model", cc = &load.cc), Value::Bps(model)).by(text!(
            "max(1.22 / sqrt(p), 1.054 (RTT / p)^(3/4)) * {mss} bytes / {rtt}",
            mss = whole(load.mss_bytes()),
            rtt = time(rtt)
        )),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).of(&load.samples),
        figure(
            text!("what the path carries"),
            Value::Bps(way.flow_capacity_bps().unwrap_or(0.0)),
        )
        .of(&sweep.samples),
    ];
    if let Some(added) = way.added_delay_us(load) {
        list.push(
            figure(text!("added to the round trip"), Value::Us(added))
                .against(text!("no full queue"))
                .of(&load.samples),
        );
    }
    list
}
