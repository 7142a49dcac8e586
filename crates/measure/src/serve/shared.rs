//! State of a server, shared by its threads.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::{config::Config, event::Log, registry::Registry, slot::Slot};

/// State shared by all threads of a server.
pub(crate) struct Shared {
    pub(super) config: Arc<Config>,
    pub(super) registry: Registry,
    pub(super) slot: Slot,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) log: Log,
}

impl Shared {
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
