//! Counts of one half.

use std::{
    io,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use sys::clock::Instant;
use traffic::load::count::Counter;

/// Counts of a half so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    bytes: AtomicU64,
    /// Datagrams sent.
    pub(super) packets: AtomicU64,
    received: Mutex<Counter>,
    /// Last arrival, ns.
    last: AtomicU64,
    failed: Mutex<Option<io::Error>>,
}

impl Counts {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    pub(crate) fn sent_packets(&self) -> u64 {
        self.packets.load(Relaxed)
    }

    pub(crate) fn received(&self) -> MutexGuard<'_, Counter> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn last(&self) -> Instant {
        Instant(self.last.load(Relaxed))
    }

    pub(crate) fn fail(&self, error: io::Error) {
        let mut slot = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(error);
    }

    pub(crate) fn failure(&self) -> Option<io::Error> {
        self.failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    pub(super) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Relaxed);
        self.last.store(Instant::now().0, Relaxed);
    }
}
