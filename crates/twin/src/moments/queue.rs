//! Possible queues of a bottleneck, from the delay that a load adds for others and for itself.

use analysis::{
    datagrams,
    figures::added_us,
    view::{DirectionView, Load},
};
use model::{cell::Queue, run::SweepStep};

use super::{loss::LossMoments, wire::Headers};

/// A load of at least this share of the path's capacity fills it.
const FILLED: f64 = 0.9;
/// If TCP adds less than this share of the delay of a flood of UDP, queue management limits it.
const MANAGED: f64 = 0.6;
/// If a small overload adds less than this share of the delay of a large one, its delay is
/// controlled.
const CONTROLLED: f64 = 0.3;

/// Ratio of the loss in a step to the loss without overload from which its queue was full.
const OVERFLOW: f64 = 5.0;
/// Share of a step in which the queue fills, below which the median probe saw it full.
const FILLING: f64 = 0.4;
/// Error of a buffer that was seen full.
const KNOWN: f64 = 0.1;
/// Error of the rate, as a share.
const RATE_ERROR: f64 = 0.005;
/// A step of this many round trips shows the delay of its overload in the probes; in a shorter one
/// most probes are answered before the queue has grown.
const ROUND_TRIPS: f64 = 1.5;

/// Round-trip time added by overload and full loads, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Added {
    /// Probes during the smallest and the largest overload of UDP.
    pub(super) overload: Option<[f64; 2]>,
    /// Probes during TCP that fills the path, the highest 95th percentile.
    pub(super) loaded: Option<f64>,
    /// Round trip of such TCP at the sender, the highest median.
    pub(super) own: Option<f64>,
    /// Part that occurs without a queue.
    pub(super) slack: f64,
}

impl Added {
    pub(super) fn of(dir: &DirectionView<'_>, rtt_s: f64, wire_bps: f64) -> Self {
        let idle = dir.view.idle();
        let spread = idle.as_ref().and_then(|i| i.variation_us());
        let packet_s = 1514.0 * 8.0 / wire_bps.max(1.0);
        let slack = (1.5 * packet_s)
            .max(300e-6)
            .max(spread.map_or(0.0, |us| us / 1e6));
        let full: Vec<Load> = dir
            .loads()
            .into_iter()
            .filter(|load| dir.utilization(load).is_some_and(|u| u >= FILLED))
            .collect();
        let added = |us| added_us(us, rtt_s * 1e6) / 1e6;
        let highest = |of: fn(&Load) -> Option<f64>| {
            let values = full.iter().filter_map(of).map(added);
            values.reduce(f64::max)
        };
        Self {
            overload: overload(dir, rtt_s).map(|rtts| rtts.map(added)),
            loaded: highest(|l| l.probe_p95_us.or(l.probe_p50_us)),
            own: highest(|l| l.rtt_p50_us),
            slack,
        }
    }

    /// Returns the delay of the full queue, s, if there is evidence of it.
    pub(super) fn full(&self) -> Option<f64> {
        let seen = self
            .overload
            .map(|[mild, _]| mild)
            .into_iter()
            .chain(self.loaded);
        seen.reduce(f64::max).filter(|s| *s > self.slack)
    }

    /// The queues that could be, the likeliest first.
    pub(super) fn queues(&self) -> Vec<Queue> {
        let Some([mild, great]) = self.overload else {
            return self.without_overload();
        };
        // The largest overload may be short; the smallest lasts longest.
        if great.max(mild) <= self.slack {
            return match self.own {
                Some(own) if own > self.own_slack() => vec![Queue::FqCodel, Queue::Cake],
                Some(_) => vec![Queue::Policer, Queue::FqCodel],
                None => vec![Queue::Policer, Queue::FqCodel, Queue::Cake],
            };
        }
        if mild < CONTROLLED * great {
            return vec![Queue::Pie, Queue::Codel];
        }
        match self.loaded {
            Some(loaded) if loaded >= MANAGED * mild => vec![Queue::Fifo],
            Some(_) => vec![Queue::Fifo, Queue::Codel, Queue::Pie],
            // TCP did not fill the queue: only the flood shows it.
            None => vec![Queue::Fifo, Queue::Codel],
        }
    }

    fn without_overload(&self) -> Vec<Queue> {
        match (self.loaded, self.own) {
            (Some(loaded), _) if loaded > self.slack => {
                vec![Queue::Fifo, Queue::Codel]
            }
            (_, Some(own)) if own > self.own_slack() => {
                vec![Queue::FqCodel, Queue::Fifo]
            }
            (Some(_), Some(_)) => vec![Queue::Policer, Queue::Fifo],
            _ => vec![Queue::Fifo],
        }
    }

    /// Returns the round-trip time that trains of packets add for TCP without a queue.
    fn own_slack(&self) -> f64 {
        1e-3_f64.max(2.0 * self.slack)
    }
}

/// Round trip of the probes during the smallest and the largest overload of sufficient length, µs.
fn overload(dir: &DirectionView<'_>, rtt_s: f64) -> Option<[f64; 2]> {
    let overloads = dir.sweep()?.overloads();
    let long = overloads
        .iter()
        .filter(|step| datagrams::span_s(&step.udp) >= ROUND_TRIPS * rtt_s);
    let rtts: Vec<f64> = long.filter_map(|s| s.rtt_p50_us).collect();
    Some([*rtts.first()?, *rtts.last()?])
}

/// Backlog of a queue at the end of an overload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Held {
    /// Bytes.
    pub(super) bytes: f64,
    /// Bounds of its error, as a share.
    pub(super) error: f64,
    /// True if more was lost than without overload: the queue was full.
    pub(super) full: bool,
}

/// Returns the backlog at the end of each overload. If the queue was full most of the time, from
/// the median delay of the probes; otherwise the bytes in less the bytes carried by the line in
/// that time.
pub(super) fn held(
    dir: &DirectionView<'_>,
    headers: &Headers,
    [rtt_s, wire_bps]: [f64; 2],
    loss: &LossMoments,
) -> Vec<Held> {
    let udp_ip = f64::from(dir.view.family.udp_headers());
    let of = |step: SweepStep| {
        let udp = step.udp;
        let (sent, received) = (udp.sent as f64, udp.received as f64);
        // Packets lost behind the queue have entered it.
        let passed = (1.0 - loss.share.value).max(0.1);
        let wire = headers.on_wire(f64::from(udp.payload) + udp_ip);
        let carried = wire_bps * datagrams::span_s(&udp) / 8.0;
        let counted = received / passed * wire - carried;
        let full = sent - received > OVERFLOW + 2.0 * sent * loss.share.high;
        // A full queue drops the excess over the rate; while it fills, it drops nothing.
        let expected = 1.0 - udp.received_bps / udp.sent_bps.max(1.0);
        let filling = 1.0 - (1.0 - received / sent.max(1.0)) / expected.max(1e-9);
        let waited = step.rtt_p50_us.map(|us| added_us(us, rtt_s * 1e6) / 1e6);
        match waited {
            Some(s) if full && filling < FILLING && s > 0.0 => Held {
                bytes: s * wire_bps / 8.0,
                error: KNOWN,
                full,
            },
            _ => Held {
                bytes: counted,
                error: KNOWN.max(RATE_ERROR * carried / counted.max(1.0)),
                full,
            },
        }
    };
    let overloads = dir.sweep().map(|sweep| sweep.overloads());
    overloads.unwrap_or_default().into_iter().map(of).collect()
}
