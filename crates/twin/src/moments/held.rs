//! Backlog of a bottleneck's queue at the end of an overload.

use analysis::{
    datagrams,
    figures::added_us,
    models::buffer_bytes,
    view::{DirectionView, Sweep},
};
use model::{run::SweepStep, wire::Wire};

use super::loss::LossMoments;

/// Ratio of the loss in a step to the loss without overload from which its queue was full.
const OVERFLOW: f64 = 5.0;
/// Error of a buffer that was seen full.
const KNOWN: f64 = 0.1;
/// Error of the rate, as a share.
const RATE_ERROR: f64 = 0.005;

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
