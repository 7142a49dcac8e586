//! Signs of losses without a queue that TCP fills.

use analysis::view::{DirectionView, Load, Sweep};
use model::{
    findings::{EvidenceItem, Value},
    text,
};

use crate::{
    bound,
    causes::{rate, whole},
    verdict::{Figure, figure},
};

/// Maximum rise of TCP's own RTT as a share of the RTT, in addition to [`MANAGED_US`]: a queue that
/// TCP fills by more is not shallow.
const OWN: f64 = 0.3;
/// Target of common queue management (CoDel: RFC 8289 section 4.3), µs.
pub(super) const MANAGED_US: f64 = 5_000.0;
/// Returns true if hardly any packet of TCP waits: its own round trip rises by little.
pub(super) fn few_wait(load: &Load, base_us: f64) -> bool {
    rise_us(load, base_us) <= OWN * base_us + MANAGED_US
}

/// Rise of TCP's own round trip, 95th percentile, µs.
pub(super) fn rise_us(load: &Load, base_us: f64) -> f64 {
    load.rtt_p95_us.map_or(0.0, |us| us - base_us)
}

/// The evidence that TCP loses packets, and that neither a long queue nor the path does it.
pub(super) fn losses(
    dir: &DirectionView,
    load: &Load,
    sweep: &Sweep,
    base_us: f64,
    signals: f64,
) -> [EvidenceItem; 3] {
    [
        figure(
            text!("increase of TCP's own RTT, 95th percentile"),
            Value::Us(rise_us(load, base_us).max(0.0)),
        )
        .bound(bound::at_most(Value::Us(OWN * base_us + MANAGED_US)))
        .samples(&load.samples),
        figure(
            text!("segments retransmitted or marked, slow start included"),
            Value::Count(signals),
        )
        .end(dir.sender().side)
        .samples(&load.samples),
        figure(
            text!("UDP loss events below capacity"),
            Value::Count(sweep.below.loss_runs),
        )
        .bound(text!(
            "none in {sent} datagrams at up to {below}",
            sent = whole(sweep.below.sent),
            below = rate(sweep.below_bps)
        ))
        .samples(&sweep.samples),
    ]
}
