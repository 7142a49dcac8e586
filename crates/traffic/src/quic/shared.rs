//! State shared by the thread of a load and its owner.

use std::sync::atomic::AtomicU64;

use crate::load::Stop;

/// The end of a load, and how far it is.
pub(super) struct Shared {
    pub(super) stop: Stop,
    /// Bytes moved so far.
    pub(super) bytes: AtomicU64,
}

impl Shared {
    pub(super) fn new(stop: Stop) -> Self {
        Self {
            stop,
            bytes: AtomicU64::new(0),
        }
    }
}
