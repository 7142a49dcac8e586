//! A half: its state while it runs, and its result.

use std::sync::atomic::AtomicU64;

use model::{record::UdpSample, text::Text};
use sys::clock::Instant;

use crate::{load::Stop, wire::message::UdpOutcome};

/// State shared by the thread of a half and its owner.
pub(super) struct Shared {
    pub(super) stop: Stop,
    pub(super) count: AtomicU64,
}

/// Result of a half.
#[derive(Debug, Default)]
pub struct Half {
    /// Its counts.
    pub outcome: UdpOutcome,
    /// Its counts over time, if sampling was requested.
    pub samples: Vec<(Instant, UdpSample)>,
    /// Error with which this host refused datagrams permanently, if any.
    pub error: Option<Text>,
}
