//! Payload of TCP in bytes on the line.

use analysis::view::{DirectionView, Load};
use model::wire::Wire;

/// Bytes with Ethernet headers of a byte of a load's payload, in full packets.
pub(super) fn on_wire(dir: &DirectionView<'_>, load: &Load, wire: Wire) -> f64 {
    let payload = load.mss_bytes();
    wire.bytes(payload + f64::from(dir.view.family.tcp_headers())) / payload
}
