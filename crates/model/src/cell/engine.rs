//! How the lab makes a path.

use serde::{Deserialize, Serialize};

/// Implementation of the queues, delays and losses of a path in the lab's kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathEngine {
    /// The kernel's own shapers and emulators (tbf, netem) on the devices of ordinary routers.
    Chain,
    /// One queueing discipline for each direction (`path`) and routers that hand packets on in the
    /// context of the sender, where the kernel has both and the line needs no more.
    #[default]
    Device,
}

impl PathEngine {
    /// Returns true for the usual one.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
