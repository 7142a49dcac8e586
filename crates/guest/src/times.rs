//! Times of a cell, and other shared values: the addresses of its ends, the directions under load.

use anyhow::Context;
use model::{cell::Cell, net::Direction};
use sys::clock::Instant;
use testbed::Node;

/// The points in time of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Idle probing starts.
    pub(crate) first: Instant,
    /// The load starts; zero of all records.
    pub(crate) zero: Instant,
    /// Measuring starts.
    pub(crate) measured: Instant,
    /// All ends.
    pub(crate) end: Instant,
}

impl Times {
    pub(crate) fn new(cell: &Cell, from: Instant) -> Self {
        let zero = from.after(cell.idle);
        let measured = zero.after(cell.warmup);
        Self {
            first: from,
            zero,
            measured,
            end: measured.after(cell.duration),
        }
    }
}

/// The address of an end.
pub(crate) fn address(node: &Node) -> anyhow::Result<std::net::IpAddr> {
    node.address
        .with_context(|| format!("{} has no address", node.name))
}

/// Returns true if the measured traffic has data in `direction`.
pub(crate) fn loads(cell: &Cell, direction: Direction) -> bool {
    cell.traffic.directions.contains(&direction)
}
