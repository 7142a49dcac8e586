//! Packets overtake each other.

use analysis::view::{DirectionView, Load};
use model::{
    findings::{EvidenceItem, RemedyClass, Severity, Value},
    remedy::Action,
    text,
};

use super::{FULL, known_or, percent};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

/// Share of overtaken datagrams that is worth a word.
const SEEN: f64 = 1e-3;
/// Share of needless retransmissions that tells reordering from loss.
const SPURIOUS: f64 = 0.5;

pub(super) const CAUSE: Cause = Cause {
    code: "reordering",
    title: "packets overtake each other and TCP takes that for loss",
    severity: Severity::High,
    needs: &[Need::Tcp],
    masked_by: &["relayed-path"],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::Ordering,
        what: "find what sends packets of one flow over several ways: bonds that alternate packets, queues \
            without a flow hash, a VPN with several sending threads; leave RACK and tcp_reordering at \
            their defaults",
        on: On::Elsewhere,
        why: "it happens where the ways part, mostly a router or the VPN's process; another congestion \
            control at the sender only hides it",
        actions,
    },
    about: "Packets that arrive out of order make the receiver repeat itself, and the sender may send again \
        what was not lost. The receiver then reports it had them twice (DSACK). UDP shows it directly: \
        datagrams come late by number, without being lost. The kernel's RACK copes with much of it, older \
        and userspace stacks do not.",
    sources: &[
        "RFC 8985 (RACK); RFC 2883 (DSACK)",
        "coder/coder#13195; firezone/firezone#8906; tailscale/tailscale#20893",
    ],
};

/// What to do, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::KeepOrder]
}

fn test(way: &DirectionView) -> Verdict {
    let Some(load) = way.default_load() else {
        return unknown(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let overtaken = way.sweep().map(|s| s.below.reordered_share());
    let spurious = load.spurious_share();
    let seen = load.reord_seen.is_some_and(|n| n > 0.0);
    if overtaken.is_none() && load.reord_seen.is_none() {
        return unknown(
            text!("neither UDP nor the sender's kernel says whether packets overtake each other"),
            Need::Sweep.settle(),
        );
    }
    let by_udp = overtaken.is_some_and(|s| s >= SEEN);
    // One needless retransmission of one says nothing.
    let by_tcp = seen
        && load
            .spurious_interval()
            .is_some_and(|(low, _)| low >= SPURIOUS);
    let refuted = way
        .sweep()
        .is_some_and(|s| s.below.reordered_interval().1 < SEEN);
    if !by_udp && !by_tcp {
        return not(text!(
            "of UDP {overtaken} are overtaken, and of TCP's retransmissions {needless} were needless",
            overtaken = known_or(overtaken, percent, text!("an unknown share")),
            needless = known_or(spurious, percent, text!("none"))
        ));
    }
    // With a queue that loses more than overtakes, order is not the matter.
    let lost = way.sweep().map(|s| s.below.loss());
    if let (Some(lost), Some(overtaken)) = (lost, overtaken)
        && !by_tcp
        && lost > overtaken
    {
        return not(text!(
            "more datagrams are lost ({lost}) than overtaken ({overtaken})",
            lost = percent(lost),
            overtaken = percent(overtaken)
        ));
    }
    let mut evidence = Vec::new();
    if let Some(share) = overtaken {
        evidence.push(
            figure(text!("overtaken of UDP"), Value::Share(share))
                .against(text!("at most 0.1 %"))
                .deciding(),
        );
    }
    if let Some(share) = spurious {
        evidence.push(
            figure(
                text!("needless of what TCP sent again"),
                Value::Share(share),
            )
            .against(text!("above half"))
            .of(&load.samples),
        );
    }
    if let Some(times) = load.reord_seen {
        evidence
            .push(figure(text!("times the sender saw it"), Value::Count(times)).of(&load.samples));
    }
    if !by_udp {
        return by_tcp_alone(way, &load, refuted, evidence);
    }
    let text = text!(
        "{overtaken} of UDP's datagrams are overtaken by later ones",
        overtaken = known_or(overtaken, percent, text!("some"))
    );
    let verdict = holds(Strength::of(&[by_tcp, true]), text, evidence);
    match way.utilization(&load) {
        Some(filled) if filled >= FULL => verdict.at(Severity::Low),
        _ => verdict,
    }
}

/// What only TCP shows. Segments leave in bursts and meet what UDP at an even rate does not, so it
/// may be true; where UDP shows that order is kept, it is worth no more than a word.
fn by_tcp_alone(
    way: &DirectionView,
    load: &Load,
    refuted: bool,
    evidence: Vec<EvidenceItem>,
) -> Verdict {
    let text = text!(
        "{needless} of TCP's retransmissions were needless",
        needless = known_or(load.spurious_share(), percent, text!("some"))
    );
    let verdict = holds(Strength::Weak, text, evidence);
    let full = way.utilization(load).is_some_and(|share| share >= FULL);
    match (refuted, full) {
        (true, true) => verdict.at(Severity::Info),
        (true, false) | (false, true) => verdict.at(Severity::Low),
        (false, false) => verdict,
    }
}
