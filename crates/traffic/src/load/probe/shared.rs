//! Probes sent so far, shared by the threads that send them and receive the replies.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, atomic::AtomicBool};

use sys::clock::{self, Instant};

use super::format::Format;

/// A probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Send time.
    pub sent: Instant,
    /// Round trip without the time at the far end, ns; absent = no reply so far.
    pub rtt_ns: Option<u64>,
    /// True if the send time is a kernel timestamp rather than one of this program's clock.
    pub stamped: bool,
}

/// State shared by the threads.
#[derive(Default)]
pub(super) struct Shared {
    /// True if no more probes are to be sent.
    pub(super) stopped: AtomicBool,
    /// True if the last probe was sent.
    pub(super) all_sent: AtomicBool,
    /// True if late replies are no longer awaited.
    pub(super) dropped: AtomicBool,
    slots: Mutex<Vec<Slot>>,
    offset: OnceLock<u64>,
    pub(super) format: Format,
}

/// State of a probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    /// By this program's clock, right before the call, or by the schedule, ns.
    pub(super) called_ns: u64,
    /// By the kernel, when the datagram left for the device's queue, ns of CLOCK_REALTIME.
    pub(super) queued_ns: Option<u64>,
    /// Receive time of the reply, ns of CLOCK_REALTIME.
    pub(super) came_ns: Option<u64>,
    /// Processing time at the far end, ns.
    pub(super) held_ns: u64,
}

impl Slot {
    /// `offset`: lead of CLOCK_REALTIME, ns.
    pub(super) fn probe(&self, offset: u64) -> Probe {
        let queued = self.queued_ns.map(|at| at.saturating_sub(offset));
        let sent_ns = queued.unwrap_or(self.called_ns);
        let rtt_ns = self.came_ns.map(|came| {
            let passed = came.saturating_sub(offset).saturating_sub(sent_ns);
            // A longer time at the far end than in all is that of a clock that was set there.
            passed.checked_sub(self.held_ns).unwrap_or(passed)
        });
        Probe {
            sent: Instant(sent_ns),
            rtt_ns,
            stamped: queued.is_some(),
        }
    }
}

impl Shared {
    /// The state of probes of this format that have not begun.
    pub(super) fn new(format: Format) -> Self {
        Self {
            format,
            ..Self::default()
        }
    }

    pub(super) fn slots(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lead of CLOCK_REALTIME over CLOCK_MONOTONIC, ns, read at the first use.
    pub(super) fn offset(&self) -> u64 {
        *self.offset.get_or_init(clock::realtime_offset)
    }

    pub(super) fn probes(&self) -> Vec<Probe> {
        let offset = self.offset();
        self.slots().iter().map(|slot| slot.probe(offset)).collect()
    }
}
