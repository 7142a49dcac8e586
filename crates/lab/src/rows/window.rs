//! The records of a group, and the time over which they are measured.

use model::{
    cell::Cell,
    record::{Kind, Record},
};

/// The time over which a group is measured, ns after the load started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(super) from: i64,
    pub(super) to: i64,
}

impl Window {
    pub(super) fn new(cell: &Cell, traffic: &model::cell::Traffic) -> Self {
        let ns = |d: std::time::Duration| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX);
        let end = ns(cell.warmup + cell.duration);
        let to = traffic.stop.map_or(end, |stop| ns(stop).min(end));
        Self {
            from: ns(cell.warmup.max(traffic.start)).min(to),
            to,
        }
    }

    /// From and to, µs.
    pub(super) fn us(self) -> [i64; 2] {
        [self.from / 1000, self.to / 1000]
    }

    pub(super) fn span_us(self) -> f64 {
        (self.to - self.from) as f64 / 1e3
    }

    pub(super) fn holds(self, at: i64) -> bool {
        (self.from..=self.to).contains(&at)
    }
}

/// The last record at or before `at`, in records sorted by time.
pub(crate) fn at_or_before<'a, 'r>(records: &[&'a Record<'r>], at: i64) -> Option<&'a Record<'r>> {
    records[..records.partition_point(|r| r.at_ns <= at)]
        .last()
        .copied()
}

/// Records of one kind and flow or queue.
pub(crate) fn of<'a, 'r>(all: &'a [Record<'r>], kind: Kind, id: u16) -> Vec<&'a Record<'r>> {
    all.iter()
        .filter(|r| r.kind == kind && r.id == id)
        .collect()
}
