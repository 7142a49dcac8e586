//! Scale of a path's faults.

use model::{net::Direction, units::Bytes};

/// The figures of a path that its faults are scaled by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// Rate down and up, kbit/s.
    pub(super) kbit: [f64; 2],
    /// Two-way propagation delay, ms.
    pub(super) rtt_ms: f64,
    /// MTU of the path, bytes.
    pub(super) mtu: u32,
    /// Bytes that a tunnel adds to a packet on this path: 60 over IPv4, 80 over IPv6.
    pub(super) overhead: u32,
}

impl Scale {
    pub(super) fn kbit(&self, direction: Direction) -> f64 {
        self.kbit[usize::from(direction == Direction::Up)]
    }

    /// Bandwidth-delay product, bytes.
    pub(super) fn bdp(&self, direction: Direction) -> f64 {
        self.kbit(direction) * self.rtt_ms / 8.0
    }

    /// A buffer of this many ms at the rate, bytes: within a minimum of packets and 16 MB.
    pub(super) fn buffer(&self, direction: Direction, ms: f64, packets: u32) -> Bytes {
        let least = f64::from(packets * (self.mtu + 14));
        Bytes((self.kbit(direction) * ms / 8.0).clamp(least, 16e6) as u64)
    }
}
