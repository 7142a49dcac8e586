//! Shapers of the router between the two lines of a path.

use serde::{Deserialize, Serialize};

use super::Queue;
use crate::units::Rate;

/// A rate below that of the line behind it, so that packets wait in its queue and not in that of
/// the line. The queue has the kernel's default limit; a fifo holds 1000 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shaper {
    /// Its rate, Ethernet headers included.
    #[serde(rename = "rate_bps")]
    pub rate: Rate,
    /// Kind of its queue; see [`Shaper::takes`].
    pub queue: Queue,
}

impl Shaper {
    /// Returns true if a shaper can have this kind of queue: a policer has no queue, and red has no
    /// default limit.
    pub const fn takes(queue: Queue) -> bool {
        queue.has_own_limit() || matches!(queue, Queue::Fifo)
    }
}
