//! The means to measure.

use std::sync::atomic::AtomicBool;

use lab::Lab;

/// The lab, and when to stop.
#[derive(Clone, Copy)]
pub(super) struct Bench<'a> {
    pub(super) lab: &'a Lab,
    pub(super) stop: &'a AtomicBool,
}
