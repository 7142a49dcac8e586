//! Samples of a connection on a grid of time.

use std::time::Duration;

use model::run::{Column, Series};
use quinn_proto::ConnectionStats;

/// Maximum number of samples: ten minutes at one per 10 ms.
const MAX: usize = 60_000;

/// Bytes of memory that they take at most: eleven columns of numbers that may be absent, and a
/// time.
pub(super) const MEMORY: u64 = (MAX * (11 * 16 + 8)) as u64;

/// A sender's state of its connection. All but the window and the times only grow.
const SENDER: [Column; 10] = [
    Column::BytesSent,
    Column::CongestionEvents,
    Column::CwndBytes,
    Column::LostBytes,
    Column::LostPackets,
    Column::MinRttUs,
    Column::MtuBytes,
    Column::RttUs,
    Column::SentPackets,
    Column::BlackHoles,
];

/// The time series.
#[derive(Debug)]
pub(super) struct Samples {
    every: Duration,
    next: Duration,
    at_us: Vec<i64>,
    received: Vec<Option<u64>>,
    columns: [Vec<Option<u64>>; SENDER.len()],
}

impl Samples {
    /// Samples at each multiple of `every`, which is made coarser if a load is very long.
    pub(super) fn new(every: Duration, duration: Duration) -> Self {
        Self {
            every: every
                .max(duration / MAX as u32)
                .max(Duration::from_millis(1)),
            next: Duration::ZERO,
            at_us: Vec::new(),
            received: Vec::new(),
            columns: Default::default(),
        }
    }

    /// Returns the time of the next sample, after the start.
    pub(super) fn next(&self) -> Duration {
        self.next
    }

    /// Makes the next sample due at once.
    pub(super) fn hurry(&mut self) {
        self.next = Duration::ZERO;
    }

    /// Takes a sample, if it is time. `received`: payload received so far.
    pub(super) fn take(
        &mut self,
        now: Duration,
        received: u64,
        stats: impl FnOnce() -> Option<ConnectionStats>,
    ) {
        if now < self.next || self.at_us.len() >= MAX {
            return;
        }
        // Late, because the processor was busy: missed slots are not made up for.
        let missed = (now - self.next).as_nanos() / self.every.as_nanos();
        let steps = u32::try_from(missed).unwrap_or(u32::MAX).saturating_add(1);
        self.next += self.every.saturating_mul(steps);
        self.at_us.push(now.as_micros() as i64);
        self.received.push(Some(received));
        let values = stats().map(|stats| sender(&stats));
        for (i, column) in self.columns.iter_mut().enumerate() {
            column.push(values.map(|values| values[i]));
        }
    }

    /// The samples by column.
    pub(super) fn series(self) -> Series {
        let mut series = Series {
            at_us: self.at_us,
            ..Series::default()
        };
        series.push(Column::BytesReceived, self.received);
        for (column, values) in SENDER.into_iter().zip(self.columns) {
            series.push(column, values);
        }
        series
    }
}

fn sender(stats: &ConnectionStats) -> [u64; SENDER.len()] {
    let path = &stats.path;
    let us = |time: Duration| time.as_micros() as u64;
    [
        stats.udp_tx.bytes,
        path.congestion_events,
        path.cwnd,
        path.lost_bytes,
        path.lost_packets,
        us(path.min_rtt),
        path.current_mtu.into(),
        us(path.rtt),
        path.sent_packets,
        path.black_holes_detected,
    ]
}
