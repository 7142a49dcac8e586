//! Non-congestive loss, as measured by UDP and TCP.

use analysis::view::{DirectionView, Load, Sweep};
use model::{
    findings::{EvidenceItem, Value},
    text,
};

use super::super::{others, percent, rate, whole};
use crate::verdict::{Figure, Verdict, figure, ruled_out, undecided};

/// Minimum number of loss events of UDP (consecutive losses are one) for an estimate of its loss.
const MIN_LOST: f64 = 5.0;
/// Share of the capacity above which TCP's losses may be overflow of a short queue that it fills
/// itself.
const SELF_INDUCED: f64 = 0.5;
/// Minimum number of TCP's loss events with an empty queue that show loss without congestion ...
const MIN_EVENTS: usize = 3;
/// ... and their minimum share of all.
const EMPTY: f64 = 0.6;

/// Protocol with which the loss was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// UDP below capacity.
    Udp,
    /// TCP's own retransmissions.
    Tcp,
}

/// TCP's losses as events, by the occupancy of the queue at each.
pub(super) struct Events {
    /// With less than half of a full queue.
    empty: usize,
    /// All loss events.
    all: usize,
    /// Events per segment.
    rate: f64,
}

impl Events {
    /// `None` if they were not observed individually, or if no full queue is known to distinguish
    /// them from overflow.
    pub(super) fn of(dir: &DirectionView, load: &Load) -> Option<Self> {
        let steady = dir.steady(load)?;
        let limit = others::empty_up_to_us(dir)?;
        Some(Self {
            empty: steady.events_within(limit),
            all: steady.events_us.len(),
            rate: steady.event_rate()?,
        })
    }

    /// Returns true if TCP lost packets without congestion.
    pub(super) fn show_loss(&self) -> bool {
        self.empty >= MIN_EVENTS && self.empty as f64 >= EMPTY * self.all as f64
    }

    /// Returns true if TCP lost packets only in a full queue.
    pub(super) fn show_overflow(&self) -> bool {
        self.all >= MIN_EVENTS && self.empty == 0
    }

    pub(super) fn evidence(&self, load: &Load) -> EvidenceItem {
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
pub(super) fn loss(
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
            lost = whole(below.lost),
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
        // That TCP loses more than that does not exclude what UDP was too short to see.
        Some(lost) if lost > 0.0 && most >= needed => Err(undecided(
            text!(
                "TCP loses {lost}, UDP below capacity at most {most}, and {needed} would explain this goodput",
                lost = percent(lost),
                most = percent(most),
                needed = percent(needed)
            ),
            longer(),
        )),
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
