//! Possible queues of a bottleneck, from the delay that a load adds for others and for itself.

use analysis::{
    datagrams,
    figures::added_us,
    models::buffer_bytes,
    view::{DirectionView, Rises, Sweep},
};
use model::{cell::Queue, run::SweepStep, wire::Wire};

use super::loss::LossMoments;

/// If TCP adds less than this share of the delay of a flood of UDP, queue management limits it.
const MANAGED: f64 = 0.6;
/// If a small overload adds less than this share of the delay of a large one, its delay is
/// controlled.
const CONTROLLED: f64 = 0.3;
/// Increase of TCP's own round trip that trains of packets explain, µs.
const TRAINS_US: f64 = 1_000.0;

/// Ratio of the loss in a step to the loss without overload from which its queue was full.
const OVERFLOW: f64 = 5.0;
/// Error of a buffer that was seen full.
const KNOWN: f64 = 0.1;
/// Error of the rate, as a share.
const RATE_ERROR: f64 = 0.005;

/// Returns the delay of the full queue, µs, if there is evidence of it.
pub(super) fn full_us(rises: &Rises) -> Option<f64> {
    let [of_medians, of_tails] = rises.chance_us;
    let mild = rises.overload_us.map(|[mild, _]| mild);
    let mild = mild.filter(|us| *us > of_medians);
    let loaded = rises.loaded_us.filter(|us| *us > of_tails);
    mild.into_iter().chain(loaded).reduce(f64::max)
}

/// The queues that could be, the likeliest first.
pub(super) fn queues(rises: &Rises) -> Vec<Queue> {
    let Some([mild, great]) = rises.overload_us else {
        return without_overload(rises);
    };
    // The largest overload may be short; the smallest lasts longest.
    if great.max(mild) <= rises.chance_us[0] {
        return match rises.own_us {
            Some(own) if own > own_by_chance_us(rises) => vec![Queue::FqCodel, Queue::Cake],
            Some(_) => vec![Queue::Policer, Queue::FqCodel],
            None => vec![Queue::Policer, Queue::FqCodel, Queue::Cake],
        };
    }
    if mild < CONTROLLED * great {
        return vec![Queue::Pie, Queue::Codel];
    }
    match rises.loaded_us {
        Some(loaded) if loaded >= MANAGED * mild => vec![Queue::Fifo],
        Some(_) => vec![Queue::Fifo, Queue::Codel, Queue::Pie],
        // TCP did not fill the queue: only the flood shows it.
        None => vec![Queue::Fifo, Queue::Codel],
    }
}

fn without_overload(rises: &Rises) -> Vec<Queue> {
    match (rises.loaded_us, rises.own_us) {
        (Some(loaded), _) if loaded > rises.chance_us[1] => {
            vec![Queue::Fifo, Queue::Codel]
        }
        (_, Some(own)) if own > own_by_chance_us(rises) => {
            vec![Queue::FqCodel, Queue::Fifo]
        }
        (Some(_), Some(_)) => vec![Queue::Policer, Queue::Fifo],
        _ => vec![Queue::Fifo],
    }
}

/// Returns the round-trip time that trains of packets add for TCP without a queue, µs.
fn own_by_chance_us(rises: &Rises) -> f64 {
    TRAINS_US.max(2.0 * rises.chance_us[1])
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
    wire: Wire,
    wire_bps: f64,
    loss: &LossMoments,
) -> Vec<Held> {
    let of = |step: SweepStep| {
        let udp = step.udp;
        let (sent, received) = (udp.sent as f64, udp.received as f64);
        // Packets lost behind the queue have entered it.
        let passed = (1.0 - loss.share.value).max(0.1);
        let packet = wire.bytes(f64::from(udp.payload + dir.view.family.udp_headers()));
        let carried = buffer_bytes(datagrams::span_s(&udp), wire_bps);
        let counted = received / passed * packet - carried;
        let full = sent - received > OVERFLOW + 2.0 * sent * loss.share.high;
        let waited = step.rtt_p50_us.zip(dir.view.unqueued_us());
        let waited = waited.map(|(us, base_us)| added_us(us, base_us) / 1e6);
        match waited {
            Some(s) if full && Sweep::is_mostly_full(&udp) && s > 0.0 => Held {
                bytes: buffer_bytes(s, wire_bps),
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
