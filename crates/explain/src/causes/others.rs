//! Signs of other hosts' traffic in a queue of the path.

use analysis::{
    models,
    view::{DirectionView, Load, Overflow, Sweep, Taken},
};

use model::text;

use super::{FULL, time};
use crate::{
    brief,
    verdict::{Verdict, undecided},
};

/// Depth of a full queue below which its overflow cannot be distinguished from other loss, µs.
const SHALLOW_US: f64 = 2_000.0;
/// Share of a full queue's delay from which a loss may be that queue's overflow.
const QUEUED: f64 = 0.5;
/// Waiting time below which no common queue management drops: CoDel's target is 5 ms (RFC 8289
/// section 4.3), cake's as well, that of PIE 15 ms (RFC 8033 section 5.1).
const MANAGED_US: f64 = 4_000.0;
/// Share of the round trip by which TCP's own, smoothed one is above that of single probes.
const SMOOTHED: f64 = 0.02;
/// Share of the reverse capacity from which the load's own acknowledgements may queue.
const ACKNOWLEDGEMENTS: f64 = 0.4;

/// Minimum number of loss events that are not chance.
const EVENTS: usize = 2;
/// Share of the capacity below which TCP's goodput is too low to be explained by its own slow
/// growth.
const STARVES: f64 = 0.7;
/// Share of the bottleneck's rate from which what others take of a full queue is not chance.
const TAKEN: f64 = 0.2;
/// Variation of the spacing of datagrams, as a share of the time of a full packet at the
/// bottleneck, below which no packets of others are between them.
const EVEN: f64 = 0.1;
/// What passes in a short overload beyond the rate of a long one, bytes, up to which a bucket of
/// tokens explains it: shapers of lines let some ten to forty packets pass at once.
const BUCKET: f64 = 64_000.0;
/// UDP loss below the capacity from which the datagrams of others are the reason, where these
/// arrive unevenly and the idle round trip does not vary by chance. Of the 36 directions of draws
/// 1002 to 1004 (docs/drawn.md) with such loss and spacing 35 had others; the 36th had jitter.
/// Random loss leaves those that arrive evenly spaced.
const LOSSY: f64 = 0.05;
/// The same where idle probes meet the full queue of the others, 19 of 20 up to that share of its
/// delay ...
const LOSSY_BESIDE_FULL: f64 = 0.02;
const MEETS: f64 = 0.7;
/// ... and the packets of the others, and no radio, space the datagrams: by up to so many packets.
const SPACED: f64 = 4.0;

/// Evidence of other traffic in one direction.
pub(super) struct Others {
    /// Idle round trip above the path's smallest, µs, if a queue makes it.
    pub idle_us: Option<f64>,
    /// Round trip during a load too slow to build a queue, above the path's smallest, µs.
    pub loaded_us: Option<f64>,
    /// A step of UDP below the capacity with a full queue.
    pub overflow: Option<Overflow>,
    /// What others, which do not give way, take of this direction's full queue.
    pub taken: Option<Taken>,
    /// Share of the datagrams below the capacity that a queue of others drops.
    pub lossy: Option<f64>,
    /// True if datagrams arrive as evenly as they were sent, so that there is no such queue on the
    /// path.
    pub even: bool,
    /// Loss events of TCP in a queue, and all loss events.
    pub queued: [usize; 2],
    /// True if TCP fills the other direction, but is far from filling this one.
    pub only: bool,
}

/// Returns true if TCP fills the other direction, and this one so little that its queue must be the
/// reason.
fn only(dir: &DirectionView, load: &Load) -> bool {
    let back = dir.reverse();
    let fills = |load: &Load| back.utilization(load).is_some_and(|filled| filled >= FULL);
    let starves = dir.utilization(load).is_some_and(|filled| filled < STARVES);
    starves && !brief::is(dir, load) && back.default_load().is_some_and(|l| fills(&l))
}

/// What others take of this direction's queue, where overload shows that there is one. As much more
/// passes a shaper's or a policer's bucket in a short overload: up to the size of one it takes an
/// `other` sign of them, and packets of theirs between the datagrams of a slower step.
fn taken(dir: &DirectionView, other: bool) -> Option<Taken> {
    depth_us(dir, dir.full_us()?)?;
    let sweep = dir.sweep()?;
    let bucket = sweep.burst().is_some_and(|burst| burst.bytes <= BUCKET);
    if bucket && (!other || passes_alone(&sweep) == Some(true)) {
        return None;
    }
    let taken = sweep.taken()?;
    (taken.share >= TAKEN).then_some(taken)
}

/// Returns whether the datagrams of the fastest step below the capacity arrive as evenly as they
/// were sent. It has the most of them, and they meet the most packets of others; those of short,
/// slow steps also vary by the clocks of hosts.
fn passes_alone(sweep: &Sweep) -> Option<bool> {
    let below = sweep.steps.iter().filter(|s| sweep.leaves_room(&s.udp));
    let fastest = below.max_by(|a, b| a.udp.sent_bps.total_cmp(&b.udp.sent_bps))?;
    Some(fastest.udp.jitter_us? < EVEN * models::packet_us(sweep.capacity_bps))
}

/// Share of the datagrams below the capacity that is lost between those of others.
fn lossy(dir: &DirectionView) -> Option<f64> {
    let below = dir.sweep()?.below;
    let least = below.loss_interval().0;
    let varies = dir.view.idle_correlation().is_some() && dir.view.idle_chance_us() == 0.0;
    let uneven = dir.arrives_evenly() == Some(false) && (varies || dir.view.is_calm());
    let full = meets_full(dir) == Some(true);
    (uneven && least >= LOSSY || full && least >= LOSSY_BESIDE_FULL).then(|| below.loss())
}

/// Returns whether idle probes wait as long as in the full queue of this direction, and datagrams
/// in it behind single packets of others.
fn meets_full(dir: &DirectionView) -> Option<bool> {
    let (idle, floor) = (dir.view.idle()?, dir.view.floor_us()?);
    let full_us = dir.full_us()? - floor;
    let spaced = dir.spacing_packets()?;
    let behind = dir.arrives_evenly() == Some(false) && spaced <= SPACED;
    Some(behind && full_us > SHALLOW_US && idle.p95_us? - floor >= MEETS * full_us)
}

/// The verdict on losses of a path whose idle round trip varies slowly by that many µs
/// ([`View::idle_drift_us`](analysis::view::View::idle_drift_us)).
pub(super) fn may_have_dropped(varies_us: f64) -> Verdict {
    undecided(
        text!(
            "the idle RTT varies slowly by {varies}, as beside other traffic, whose queue may have dropped what was lost",
            varies = time(varies_us)
        ),
        text!("the same plan when nothing else uses the line"),
    )
}

/// The reason why losses of a direction may be drops of a queue that others fill: the idle round
/// trip varies slowly, or idle probes wait as long as in the full queue of the direction.
pub(super) fn may_drop(dir: &DirectionView) -> Option<Verdict> {
    if let Some(varies) = dir.view.idle_drift_us() {
        return Some(may_have_dropped(varies));
    }
    let full = || {
        undecided(
            text!(
                "idle packets already wait as long as in a full queue, as beside other traffic, whose queue may have dropped what was lost"
            ),
            text!("the same plan when nothing else uses the line"),
        )
    };
    (meets_full(dir) == Some(true)).then(full)
}

/// Highest round trip, µs, at which a loss event is not an overflow of a FIFO queue; `None` if the
/// direction's full queue is too short or unknown, so that losses cannot be distinguished from
/// overflow.
pub(super) fn half_full_us(dir: &DirectionView) -> Option<f64> {
    Some(dir.view.base_us()? + QUEUED * depth_us(dir, dir.full_us()?)?)
}

/// Highest round trip of TCP, µs, at which no queue can have dropped a packet, plain or managed:
/// management begins to drop where packets wait for longer than its target. `None` as above.
pub(super) fn empty_up_to_us(dir: &DirectionView) -> Option<f64> {
    let depth = depth_us(dir, dir.full_us()?.max(own_us(dir)))?;
    let packet_us = models::packet_us(dir.flow_capacity_bps()?);
    let base = dir.view.base_us()?;
    let least = MANAGED_US.max(packet_us).max(SMOOTHED * base) + variation_us(dir);
    Some(base + least.min(QUEUED * depth))
}

/// Range of the idle round trip, µs, if it is larger than what a full queue of the direction adds:
/// an idle one that is far below the median lets a full queue look empty.
pub(super) fn hides_queue_us(dir: &DirectionView) -> Option<f64> {
    if dir.view.idle_rise_us().is_some() {
        return None;
    }
    let range = dir.view.idle()?.range_us()?;
    // The 95th percentile of TCP's round trip has the path's own variation, too.
    let full = dir.full_us()?.max(own_us(dir) - variation_us(dir));
    (range > SHALLOW_US.max(full - dir.view.base_us()?)).then_some(range)
}

/// Highest 95th percentile of TCP's own round trip, µs: with flow isolation only TCP sees its
/// queue.
fn own_us(dir: &DirectionView) -> f64 {
    let own = dir.single_loads().into_iter().filter_map(|l| l.rtt_p95_us);
    own.fold(0.0, f64::max)
}

/// Returns the round-trip time added by a full queue, µs, if it exceeds chance.
fn depth_us(dir: &DirectionView, full_us: f64) -> Option<f64> {
    let depth = full_us - dir.view.base_us()?;
    (depth > SHALLOW_US.max(variation_us(dir) / QUEUED)).then_some(depth)
}

/// Rise of a round trip that is chance, µs: 19 of 20 idle ones rise by less.
fn variation_us(dir: &DirectionView) -> f64 {
    let varies = || dir.view.idle()?.variation_us();
    match dir.view.idle_rise_us() {
        Some(_) => 0.0,
        None => varies().unwrap_or(0.0),
    }
}

impl Others {
    /// The signs of a direction with its load.
    pub(super) fn of(dir: &DirectionView, load: &Load) -> Self {
        let limit = dir.view.rise_limit_us().max(dir.view.idle_chance_us());
        let acknowledgements = dir.acknowledgements_share(load).unwrap_or(0.0);
        let stands = || dir.standing_us(load).filter(|us| *us > limit);
        let loaded_us = stands().filter(|_| acknowledgements < ACKNOWLEDGEMENTS);
        let events = dir.steady(load).map(|s| s.events_us).unwrap_or_default();
        let empty = half_full_us(dir).unwrap_or(f64::INFINITY);
        let seen = Self {
            idle_us: dir.view.idle_rise_us(),
            loaded_us,
            overflow: dir.overflow_below(),
            taken: None,
            lossy: lossy(dir),
            even: dir.arrives_evenly() == Some(true),
            only: only(dir, load),
            queued: [
                events.iter().filter(|us| **us > empty).count(),
                events.len(),
            ],
        };
        let other = seen.wait() || seen.lose() || seen.overflow.is_some() || seen.lossy.is_some();
        let taken = taken(dir, other);
        Self { taken, ..seen }
    }

    /// Returns true if there is a standing queue that the load does not fill.
    pub(super) fn wait(&self) -> bool {
        self.idle_us.is_some() || self.loaded_us.is_some()
    }

    /// Returns true if most losses of TCP occur in a full queue.
    pub(super) fn lose(&self) -> bool {
        let [queued, all] = self.queued;
        queued >= EVENTS && 2 * queued > all
    }

    /// Returns true if the traffic of others fills the queue of this direction: it drops packets,
    /// takes its share of them, or only this direction's TCP does not fill the path.
    pub(super) fn here(&self) -> bool {
        let seen = self.overflow.is_some() || self.taken.is_some() || self.lossy.is_some();
        seen || !self.even && self.wait() && (self.lose() || self.only)
    }
}
