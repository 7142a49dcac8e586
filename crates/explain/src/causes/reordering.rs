//! Reordering.

use analysis::{
    models,
    view::{DirectionView, Load},
};
use model::{
    findings::{EvidenceItem, Severity, Value},
    remedy::Action,
    text,
};

use super::{FULL, known_or, percent};
use crate::{
    bound,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Minimum share of reordered datagrams.
const SEEN: f64 = 1e-3;
/// Minimum number of reordered datagrams.
const MIN_OVERTAKEN: f64 = 5.0;
/// The formula of a congestion control holds within a factor of some 2.5 in goodput, which is six
/// in loss: retransmissions below this share of those in the formula do not explain a slow path.
const FEWER: f64 = 6.0;
/// Share of retransmissions up to which BBR's rate stays the same.
const BBR_KEEPS: f64 = 0.01;
/// Share of overtaken datagrams from which reordering also costs a sender that hardly retransmits:
/// most of its acknowledgements report a hole, and open no window. With a third and more, it cost a
/// fifth to nine tenths on three drawn paths (draws 1003 and 1004 of docs/drawn.md), with at most
/// 4 % nothing on four.
const OFTEN: f64 = 0.1;
/// Gain of bbr, which fills the path, from which reordering costs something: a tenth, as for the
/// causes of docs/drawn.md.
const COSTS: f64 = 1.1;
/// Share of spurious retransmissions that distinguishes reordering from loss.
const SPURIOUS: f64 = 0.5;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::REORDERING,
    title: "packets are reordered and TCP mistakes that for loss",
    severity: Severity::High,
    needs: &[Need::Tcp],
    masked_by: &[CauseCode::RELAYED_PATH],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Elsewhere,
        why: "it happens where packets are spread over several paths, mostly in a router or the VPN's process; another congestion control at the sender only hides it",
        actions,
    },
    about: "Packets that arrive out of order cause duplicate acknowledgements, and the sender may \
        retransmit segments that were not lost. The receiver then reports duplicates (DSACK). UDP \
        shows it directly: datagrams arrive after later ones, without being lost. The kernel's \
        RACK copes with much of it, older and userspace stacks do not.",
    sources: &[
        "RFC 8985 (RACK); RFC 2883 (DSACK)",
        "coder/coder#13195; firezone/firezone#8906; tailscale/tailscale#20893",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::KeepOrder]
}

fn test(dir: &DirectionView) -> Verdict {
    let Some(load) = dir.default_load() else {
        return undecided(Need::Tcp.missing(), Need::Tcp.settle());
    };
    if dir.sender().is_both_ends() {
        return undecided(
            text!("both ends are one host: its processors are the path"),
            text!("the same plan between two hosts"),
        );
    }
    let overtaken = dir.sweep().map(|s| s.below.reordered_share());
    let spurious = load.spurious_share();
    let seen = load.reord_seen.is_some_and(|n| n > 0.0);
    if overtaken.is_none() && load.reord_seen.is_none() {
        return undecided(
            text!("neither UDP nor the sender's kernel shows whether packets are reordered"),
            Need::Sweep.settle(),
        );
    }
    // A single datagram of some hundred is no evidence, either.
    let by_udp = dir
        .sweep()
        .is_some_and(|s| s.below.reordered_share() >= SEEN && s.below.reordered >= MIN_OVERTAKEN);
    // A single spurious retransmission is no evidence.
    let by_tcp = seen
        && load
            .spurious_interval()
            .is_some_and(|(low, _)| low >= SPURIOUS);
    let refuted = dir
        .sweep()
        .is_some_and(|s| s.below.reordered_interval().1 < SEEN);
    if !by_udp && !by_tcp {
        return ruled_out(text!(
            "{overtaken} of the UDP datagrams are reordered, and {needless} of TCP's retransmissions were spurious",
            overtaken = known_or(overtaken, percent, text!("an unknown share")),
            needless = known_or(spurious, percent, text!("none"))
        ));
    }
    // If more is lost than reordered, reordering is not the problem.
    let lost = dir.sweep().map(|s| s.below.loss());
    if let (Some(lost), Some(overtaken)) = (lost, overtaken)
        && !by_tcp
        && lost > overtaken
    {
        return ruled_out(text!(
            "more datagrams are lost ({lost}) than reordered ({overtaken})",
            lost = percent(lost),
            overtaken = percent(overtaken)
        ));
    }
    let mut evidence = Vec::new();
    if let Some(share) = overtaken {
        evidence.push(
            figure(text!("reordered UDP datagrams"), Value::Share(share))
                .bound(bound::at_most(Value::Share(SEEN)))
                .decisive(),
        );
    }
    if let Some(share) = spurious {
        evidence.push(
            figure(text!("spurious TCP retransmissions"), Value::Share(share))
                .bound(text!("above half"))
                .samples(&load.samples),
        );
    }
    if let Some(times) = load.reord_seen {
        evidence.push(
            figure(
                text!("reordering events seen by the sender"),
                Value::Count(times),
            )
            .samples(&load.samples),
        );
    }
    if !by_udp {
        return by_tcp_alone(dir, &load, refuted, evidence);
    }
    let text = text!(
        "{overtaken} of the UDP datagrams are reordered",
        overtaken = known_or(overtaken, percent, text!("some"))
    );
    let verdict = confirmed(Strength::of(&[by_tcp, true]), text, evidence);
    let rare = overtaken.is_some_and(|share| share < OFTEN);
    match dir.utilization(&load) {
        Some(filled) if filled >= FULL || rare && harmless(&load) || cheap(dir, filled) => {
            verdict.at(Severity::Info)
        }
        _ => verdict,
    }
}

/// Returns true if bbr, which takes overtaken packets for lost without slowing down, fills the path
/// and carries hardly more than a load that fills this share.
fn cheap(dir: &DirectionView, filled: f64) -> bool {
    let bbr = dir.load_with("bbr").and_then(|bbr| dir.utilization(&bbr));
    bbr.is_some_and(|most| most >= FULL && most < COSTS * filled)
}

/// Returns true if the congestion control reacts too rarely for its goodput: overtaken packets slow
/// a sender down only if it assumes that they are lost, and then it retransmits. BBR does not react
/// to that.
fn harmless(load: &Load) -> bool {
    let Some(again) = load.retransmitted_segments() else {
        return false;
    };
    let explains = load.rtt_us().and_then(|rtt| {
        models::loss_for_bps(&load.cc, load.goodput_bps, rtt / 1e6, load.mss_bytes())
    });
    match explains {
        Some(needed) => again < needed / FEWER,
        None => load.cc == "bbr" && again < BBR_KEEPS,
    }
}

/// Verdict from TCP alone. Segments leave in bursts and encounter queues that UDP at an even rate
/// does not, so it may be true; if UDP shows no reordering, it is informational.
fn by_tcp_alone(
    dir: &DirectionView,
    load: &Load,
    refuted: bool,
    evidence: Vec<EvidenceItem>,
) -> Verdict {
    let text = text!(
        "{needless} of TCP's retransmissions were needless",
        needless = known_or(load.spurious_share(), percent, text!("some"))
    );
    let verdict = confirmed(Strength::Weak, text, evidence);
    let full = dir.utilization(load).is_some_and(|share| share >= FULL);
    match (refuted, full) {
        (_, true) => verdict.at(Severity::Info),
        (true, false) => verdict.at(Severity::Low),
        (false, false) => verdict,
    }
}
