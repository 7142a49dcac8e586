//! Loss below the knee, which no queue causes.

use analysis::{
    models,
    view::{Datagrams, DirectionView, Load, Rises, Steady},
};
use model::cell::Queue;

use super::{
    estimate::Estimate,
    queue::{FULL_PACKET, full_us},
};

/// A load below this share of the path's capacity does not fill its queue most of the time.
const UNFILLED: f64 = 0.8;
/// Rise of the round trip from which queue management may have dropped a packet, µs: less than the
/// targets of CoDel and PIE (5 and 15 ms; RFC 8289, RFC 8033).
const MANAGED_US: f64 = 2_000.0;
/// Full packets that a sender may have in the queue at once without a standing queue.
const TRAIN: f64 = 3.0;
/// Share of the delay of a full queue from which a plain one may have overflowed.
const NEARLY_FULL: f64 = 0.5;
/// Losses from which on their pattern is reported.
const ENOUGH_LOST: f64 = 20.0;
/// Ratio of the mean length of a run of losses to that of independent losses from which they count
/// as bursts.
const BURSTY: f64 = 1.5;
/// Ratio by which the loss that a flow of this rate met may exceed that of the formula: a flow
/// above the mean, and the first seconds before its window has fallen to it. In CUBIC's rate it is
/// a factor of 2.8.
const LUCKY: f64 = 4.0;
/// Loss with which no TCP carries anything worth measuring, where it reports nothing else.
const HARDLY_ANY: f64 = 0.5;

/// Loss of a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossMoments {
    /// Share of packets, 0 to 1.
    pub share: Estimate,
    /// Packets that it was counted over.
    pub packets: f64,
    /// Mean length of a run of losses, packets; absent if they are not in bursts.
    pub run: Option<f64>,
}

impl LossMoments {
    /// Counts losses where no queue was full: datagrams below the knee, and segments of loads
    /// clearly below the capacity of the path, at the round trips of an empty queue. Events are
    /// taken as independent (Wilson's interval); of bursts, the runs are.
    ///
    /// If that counts no loss, because it counts few packets or none at all, the upper bound is the
    /// loss of TCP at any rate: loss outside of the queue cannot be more than all that was lost,
    /// nor more than the rate of a loss-based flow allows ([`most_by_tcp`]). Where more datagrams
    /// were lost than any TCP load bears out, they were not lost on the path.
    pub(super) fn of(
        dir: &DirectionView<'_>,
        rtt_s: f64,
        policed: bool,
        queue: &QueueMoments,
    ) -> Self {
        let (mut lost, mut sent) = (0.0, 0.0);
        let mut run = None;
        if let Some(sweep) = dir.sweep() {
            let below = match queue.is_fair {
                true => sweep.below_before_overload(),
                false => sweep.below,
            };
            lost += below.lost;
            sent += below.sent;
            run = burst(&below);
        }
        for load in dir.loads().iter().filter(|_| !policed) {
            if let Some((l, s)) = segments(dir, load, queue) {
                lost += l;
                sent += s;
            }
        }
        let each = run.unwrap_or(1.0);
        let interval = stats::wilson((lost / each).round() as u64, (sent / each).round() as u64);
        let (low, high) = interval.map_or((0.0, 1.0), |i| (i.low, i.high));
        let value = if sent > 0.0 { lost / sent } else { 0.0 };
        let most = most_by_tcp(dir, rtt_s);
        if low > most {
            return Self::none_up_to(most, sent);
        }
        let high = match lost > 0.0 {
            true => high,
            false => high.min(most),
        };
        Self {
            share: Estimate {
                value,
                low: low.min(value),
                high: high.max(value),
            },
            packets: sent,
            run,
        }
    }

    /// No loss, of that many packets. A busy host that misses datagrams for a moment loses a burst
    /// of them, and no TCP load as much.
    fn none_up_to(most: f64, packets: f64) -> Self {
        Self {
            share: Estimate {
                value: 0.0,
                low: 0.0,
                high: most,
            },
            packets,
            run: None,
        }
    }
}

/// The queue behind which losses are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueMoments {
    /// True if it drops before it is full.
    managed: bool,
    /// True if it serves flows in turn.
    is_fair: bool,
    /// Delay of the full queue, µs, if known.
    full_us: Option<f64>,
    /// Time of a full packet on the line, µs.
    packet_us: f64,
}

impl QueueMoments {
    /// The likeliest of these queues, on a line of this rate.
    pub(super) fn of(rises: &Rises, queues: &[Queue], rate_bps: f64) -> Self {
        let queue = queues.first().copied();
        Self {
            managed: queue.is_some_and(|queue| queue != Queue::Fifo),
            is_fair: matches!(queue, Some(Queue::FqCodel | Queue::Cake)),
            full_us: full_us(rises),
            packet_us: FULL_PACKET * 8e6 / rate_bps.max(1.0),
        }
    }

    /// Smallest rise of the round trip at which it may have dropped a packet, µs; `None` if any
    /// packet may be the queue's.
    fn drops_from_us(&self) -> Option<f64> {
        match self.managed {
            true => Some(MANAGED_US.max(TRAIN * self.packet_us)),
            false => Some(NEARLY_FULL * self.full_us?),
        }
    }
}

/// Lost and sent segments of a load that did not fill the path, after its slow start, which
/// overshoots. Losses at a round trip at which the queue may have dropped are not among them, nor
/// overtaken packets mistaken for lost.
///
/// Bug: on lines with fq_codel and long round trips, CUBIC reaches two thirds of the rate, and its
/// losses were taken for random ones: a twin predicted 13 of 29 Mbit/s for a shaper.
fn segments(dir: &DirectionView<'_>, load: &Load, queue: &QueueMoments) -> Option<(f64, f64)> {
    let used = dir.utilization(load)?;
    // bbr probes above the rate four times as often as it drains.
    let calm = used < UNFILLED && load.cc != "bbr";
    let sent = load.segments.filter(|sent| calm && *sent > 0.0)?;
    let limit = dir.view.unqueued_us().zip(queue.drops_from_us());
    match (dir.steady(load), limit) {
        (Some(steady), Some((base_us, rise_us))) => {
            let seen = steady.events_within(base_us + rise_us) as f64;
            let real = 1.0 - load.spurious_share().unwrap_or(0.0);
            let each = packets_of_event(&steady, load);
            Some((seen * real * each, steady.segments))
        }
        // Without the round trips at the losses, only a plain queue is known to have lost none.
        _ => (!queue.managed).then_some((load.loss()? * sent, sent)),
    }
}

/// Mean losses of an event, in which all losses of a round trip count once: of a window of W
/// packets, each lost with the chance p, there is one in 1 - exp(-pW) of all round trips.
fn packets_of_event(steady: &Steady, load: &Load) -> f64 {
    let (Some(window), Some(rate)) = (load.cwnd_p50, steady.event_rate()) else {
        return 1.0;
    };
    let trips = (window * rate).clamp(0.0, 0.9);
    match trips > 0.0 {
        true => -(1.0 - trips).ln() / trips,
        false => 1.0,
    }
}

/// The most that can be lost outside of the queue by what TCP shows, as a share: the least upper
/// bound of its loads.
pub(super) fn most_by_tcp(dir: &DirectionView<'_>, rtt_s: f64) -> f64 {
    let of = |load: &Load| most_of(dir, load, rtt_s);
    let loads = dir.loads();
    loads.iter().filter_map(of).fold(HARDLY_ANY, f64::min)
}

/// The same of one load: what it retransmitted, needlessly or not, and the loss that would limit a
/// loss-based flow to its rate at the base round trip; with more delay it would be less.
fn most_of(dir: &DirectionView<'_>, load: &Load, rtt_s: f64) -> Option<f64> {
    let mss = mss_bytes(dir, load);
    let sent = load.segments.filter(|sent| *sent > 0.0);
    let sent = sent.unwrap_or_else(|| delivered_bytes(load) / mss);
    let bound = |lost: f64| {
        let (lost, sent) = (lost.min(sent).ceil() as u64, sent.round() as u64);
        stats::wilson(lost, sent).map(|interval| interval.high)
    };
    let counted = load.retransmits.and_then(bound);
    let each_bps = load.goodput_bps / f64::from(load.flows.max(1));
    let limit = models::loss_for_bps(&load.cc, each_bps, rtt_s, mss);
    let allowed = limit.and_then(|share| bound(LUCKY * share * sent));
    counted.into_iter().chain(allowed).reduce(f64::min)
}

/// Payload of a segment; that of the path's packets if the load does not report its own.
fn mss_bytes(dir: &DirectionView<'_>, load: &Load) -> f64 {
    let headers = dir.view.family.tcp_headers();
    let packets = || Some(f64::from(dir.view.mtu_bytes()?.saturating_sub(headers)));
    let mss = load.mss.or_else(packets).filter(|mss| *mss > 0.0);
    mss.unwrap_or(models::ETHERNET_MSS)
}

/// Payload that a load delivered in all its repeats, bytes.
fn delivered_bytes(load: &Load) -> f64 {
    let lasted_s = (load.window_s[1] - load.window_s[0]).max(0.0);
    load.goodputs.iter().sum::<f64>() * lasted_s / 8.0
}

/// Mean run of losses below the knee, if that is more than chance makes of single ones.
fn burst(below: &Datagrams) -> Option<f64> {
    if below.lost < ENOUGH_LOST || below.loss_runs < 3.0 {
        return None;
    }
    // Independent losses of share p come in runs of 1 / (1 - p).
    let usual = 1.0 / (1.0 - below.loss()).max(0.01);
    below.mean_run().filter(|mean| *mean > BURSTY * usual)
}
