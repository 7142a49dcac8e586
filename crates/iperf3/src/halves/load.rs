//! State shared by the halves of one test: progress, and the bytes that are left to send.

use std::{
    sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use sys::clock::Instant;
use traffic::admission::Lease;

/// Maximum time for which a blocked call delays the reaction of a half to the end of the test.
pub(crate) const WAIT: Duration = Duration::from_millis(20);

/// Phase of a test, for its halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Data flows and counts.
    Running,
    /// Sending has ended; arriving data still counts.
    Emptying,
    /// Sending has ended; arriving data does not count, but is read so that the sender does not
    /// block.
    Draining,
    /// Over.
    Ended,
}

/// State shared by the halves of one test.
#[derive(Debug)]
pub(crate) struct Load {
    phase: AtomicU8,
    /// Start of the test.
    pub(crate) start: Instant,
    /// Bytes of a write or of a datagram's payload.
    pub(crate) len: usize,
    /// Rate of a stream, bit/s; absent = unlimited.
    pub(crate) rate_bps: Option<u64>,
    /// Datagrams have numbers of 64 bits.
    pub(crate) wide: bool,
    /// The data to send.
    pub(super) payload: Vec<u8>,
    /// Bytes still to be sent over all streams, if they are limited.
    budget: Option<AtomicU64>,
    /// The lease of all streams.
    pub(crate) lease: Lease,
}

impl Load {
    pub(crate) fn new(
        len: usize,
        rate_bps: Option<u64>,
        wide: bool,
        budget: Option<u64>,
        lease: Lease,
    ) -> Self {
        Self {
            phase: AtomicU8::new(Phase::Running as u8),
            start: Instant::now(),
            len,
            rate_bps,
            wide,
            payload: noise(len),
            budget: budget.map(AtomicU64::new),
            lease,
        }
    }

    /// Sleeps until the rate permits more data, or the test ends.
    pub(super) fn pause(&self, until: Instant) {
        while !self.is(Phase::Ended) {
            let now = Instant::now();
            if now >= until {
                return;
            }
            now.after(WAIT).min(until).wait();
        }
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Relaxed);
    }

    pub(super) fn is(&self, phase: Phase) -> bool {
        let now = if self.lease.is_over() {
            Phase::Ended as u8
        } else {
            self.phase.load(Relaxed)
        };
        now == phase as u8
    }

    pub(super) fn counts(&self) -> bool {
        self.is(Phase::Running) || self.is(Phase::Emptying)
    }

    /// Takes up to `bytes` from the bytes that may still be sent.
    pub(super) fn take(&self, bytes: usize) -> usize {
        let Some(budget) = &self.budget else {
            return bytes;
        };
        let wanted = bytes as u64;
        let mut left = budget.load(Relaxed);
        while let Err(now) =
            budget.compare_exchange_weak(left, left.saturating_sub(wanted), Relaxed, Relaxed)
        {
            left = now;
        }
        left.min(wanted) as usize
    }

    pub(super) fn give_back(&self, bytes: usize) {
        if let Some(budget) = &self.budget {
            budget.fetch_add(bytes as u64, Relaxed);
        }
    }

    /// Returns the bytes of a stream due now at its rate, of which `sent` are sent; waits a while
    /// if none are.
    pub(super) fn due(&self, sent: u64) -> u64 {
        let Some(rate) = self.rate_bps else {
            return u64::MAX;
        };
        let now = Instant::now();
        let gone = u128::try_from(now.since(self.start)).unwrap_or(0);
        let allowed = u64::try_from(gone * u128::from(rate) / 8_000_000_000).unwrap_or(u64::MAX);
        // A block is due when the time of the previous ones has passed.
        if allowed >= sent {
            return allowed - sent + 1;
        }
        let wait = u128::from(sent - allowed) * 8_000_000_000 / u128::from(rate.max(1));
        let wait = Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX));
        now.after(wait.min(WAIT)).wait();
        0
    }
}

/// Incompressible bytes: otherwise a compressing tunnel would seem faster than it is.
fn noise(len: usize) -> Vec<u8> {
    // xorshift64, Marsaglia 2003.
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bytes.extend(x.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}
