//! Random loss with a loss-based congestion control.

mod seen;

use analysis::{
    models,
    view::{DirectionView, Load, Sweep},
};
use model::{
    findings::{EvidenceItem, Severity, Value},
    remedy::Action,
    text,
};

pub(super) use self::seen::exceeds;
use self::seen::{Events, From, loss};
use super::{FULL, least_gain, no_capacity, others, percent, rate, time, whole};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// The model explains a goodput from this multiple of its value ...
const LOW: f64 = 0.4;
/// ... to this one.
const HIGH: f64 = 2.5;
/// Minimum gain of another congestion control that confirms the cause.
const GAIN: f64 = 1.5;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::RANDOM_LOSS,
    title: "the congestion control mistakes random loss for congestion",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::Sweep],
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
        CauseCode::SHARED_LINE,
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
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

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![scope.send_with("bbr")]
}

fn test(dir: &DirectionView) -> Verdict {
    let (Some(load), Some(sweep)) = (dir.default_load(), dir.sweep()) else {
        return undecided(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let (Some(carries), Some(filled)) = (dir.payload_capacity_bps(&load), dir.utilization(&load))
    else {
        return no_capacity(dir);
    };
    if !models::is_loss_based(&load.cc) {
        return ruled_out(text!("{cc} is not known to be loss-based", cc = &load.cc));
    }
    if filled >= FULL {
        return ruled_out(text!(
            "TCP reaches {filled} of the path's capacity",
            filled = percent(filled)
        ));
    }
    let no_gain = least_gain(filled);
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
    let bbr = dir.load_with("bbr").filter(|b| b.cc != load.cc);
    let gain = bbr.as_ref().and_then(|bbr| dir.gain(bbr, &load));
    let by_udp = from == From::Udp && gain.is_some_and(|g| g >= GAIN);
    // With a round trip of few ms, timeouts of 200 ms take most of the time, which the formula
    // leaves out; beside other traffic they also follow from drops of its queue.
    if ratio < LOW && !(by_udp && dir.view.is_calm()) {
        return ruled_out(text!(
            "at a loss of {loss} {cc} should reach {model}, but reaches {goodput}: something else limits it",
            loss = percent(loss),
            cc = &load.cc,
            model = rate(model),
            goodput = rate(load.goodput_bps)
        ));
    }
    // The formula applies in the long run; a load of seconds also contains its start. Individually
    // observed losses need no formula.
    let seen = events.as_ref().is_some_and(Events::show_loss) || by_udp;
    if ratio > HIGH && !seen {
        return ruled_out(text!(
            "at a random loss of {loss} {cc} should reach {model}, but reaches {goodput}: the losses occur in few bursts",
            loss = percent(loss),
            cc = &load.cc,
            model = rate(model),
            goodput = rate(load.goodput_bps)
        ));
    }
    if let Some(verdict) = others::may_drop(dir)
        && !events.as_ref().is_some_and(Events::show_loss)
    {
        return verdict;
    }
    if let Some(gain) = gain.filter(|g| *g < no_gain) {
        return ruled_out(text!(
            "bbr, which is not affected by single losses, reaches only {gain} times as much",
            gain = Value::Count(gain)
        ));
    }
    let mut evidence = evidence(dir, &load, &sweep, loss, from, model, rtt);
    evidence.extend(events.as_ref().map(|e| e.evidence(&load)));
    if let (Some(bbr), Some(gain)) = (&bbr, gain) {
        evidence.push(
            figure(text!("gain with bbr, measured"), Value::Ratio(gain))
                .bound(text!(
                    "at least {least}; from {sure} on it confirms",
                    least = Value::Ratio(no_gain),
                    sure = Value::Ratio(GAIN)
                ))
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
        dir.gain(&m, &load)
            .is_some_and(|gain| gain > (0.6 * times).min(GAIN))
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
        From::Tcp => verdict.masked_by(&[
            CauseCode::SHALLOW_QUEUE,
            CauseCode::POLICER,
            CauseCode::REORDERING,
            CauseCode::RECEIVE_WINDOW,
            CauseCode::SEND_BUFFER,
        ]),
    };
    match gain {
        None => verdict.settled_by(text!("the same load alternating with bbr, five times each")),
        Some(_) => verdict,
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
        From::Udp => figure(text!("UDP loss events below capacity"), Value::Share(loss))
            .formula(text!(
                "{events} runs of lost datagrams over {sent} datagrams, at up to {below}",
                events = whole(below.loss_runs),
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
    let ratio = load.goodput_bps / model;
    let [low, high] = [LOW, HIGH].map(Value::Ratio);
    let of_model = figure(
        text!("goodput of {cc} / its model", cc = &load.cc),
        Value::Ratio(ratio),
    )
    .samples(&load.samples);
    let (seen, of_model) = match (LOW..=HIGH).contains(&ratio) {
        true => {
            let bound = text!(
                "between {low} and {high} in the long run",
                low = low,
                high = high
            );
            (seen, of_model.bound(bound).decisive())
        }
        // Slow start or timeouts are in it.
        false => {
            let bound = text!(
                "not between {low} and {high}: the losses that were seen decide",
                low = low,
                high = high
            );
            (seen.decisive(), of_model.bound(bound))
        }
    };
    let mut list = vec![
        seen,
        of_model,
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
