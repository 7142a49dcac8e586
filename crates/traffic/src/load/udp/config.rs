//! Agreed parameters of a load of datagrams.

use std::time::Duration;

use sys::clock::Instant;

use crate::admission::Lease;

/// Maximum wait for datagrams in one call.
pub(super) const WAIT: Duration = Duration::from_millis(20);

/// Parameters of a load.
#[derive(Clone, Debug)]
pub struct Config {
    /// Bit/s of payload.
    pub rate_bps: u64,
    /// Payload bytes of a datagram.
    pub payload: usize,
    /// Start time.
    pub zero: Instant,
    /// Sending time, and limits of both ends.
    pub lease: Lease,
}

/// From one datagram to the next, ns.
pub(super) fn interval_ns(config: &Config, payload: usize) -> u128 {
    (payload as u128 * 8_000_000_000 / u128::from(config.rate_bps.max(1))).max(1)
}
