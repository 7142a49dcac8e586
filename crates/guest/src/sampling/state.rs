//! What is sampled, how often, and the state of a queue as a record.

use model::{cell::Cell, record::QueueSample};
use sys::tc::{self, QdiscExtra};
use testbed::{SampledQueue, Testbed};

use crate::times::loads;

/// Competing flows and receivers are sampled once per this number of other samples.
pub(super) const SELDOM: u32 = 10;

/// The queues that are sampled: those in the way of the measured data.
pub(crate) fn sampled<'a>(
    cell: &'a Cell,
    bed: &'a Testbed,
) -> impl Iterator<Item = (u16, &'a SampledQueue)> {
    (0..).zip(bed.queues.iter().filter(|q| loads(cell, q.direction)))
}

/// The state of a queue as a record has it.
pub(super) fn queue_sample(stats: &tc::QdiscStats) -> QueueSample {
    if let Some(QdiscExtra::Path {
        bytes,
        packets,
        drops,
        qlen,
        backlog_bytes,
        ..
    }) = stats.extra
    {
        return QueueSample {
            backlog_bytes: u64::from(backlog_bytes),
            packets_waiting: u64::from(qlen),
            bytes,
            packets,
            drops: u64::from(drops),
            ..QueueSample::default()
        };
    }
    let (marks, delay_us, delay_l4s_us) = match stats.extra {
        Some(QdiscExtra::Codel {
            ecn_mark,
            ldelay_us,
            ..
        }) => (ecn_mark, ldelay_us, 0),
        Some(QdiscExtra::FqCodel { ecn_mark, .. }) => (ecn_mark, 0, 0),
        Some(QdiscExtra::Pie {
            ecn_mark, delay_us, ..
        }) => (ecn_mark, delay_us, 0),
        Some(QdiscExtra::Cake {
            ecn_mark,
            avg_delay_us,
            ..
        }) => (ecn_mark, avg_delay_us, 0),
        Some(QdiscExtra::DualPi2 {
            ecn_mark,
            delay_c_us,
            delay_l_us,
            ..
        }) => (ecn_mark, delay_c_us, delay_l_us),
        Some(QdiscExtra::Red { marked, .. }) => (marked, 0, 0),
        Some(QdiscExtra::Netem { .. } | QdiscExtra::Fq { .. } | QdiscExtra::Path { .. }) | None => {
            (0, 0, 0)
        }
    };
    QueueSample {
        backlog_bytes: u64::from(stats.backlog_bytes),
        packets_waiting: u64::from(stats.qlen),
        bytes: stats.bytes,
        packets: stats.packets,
        drops: u64::from(stats.drops),
        marks: u64::from(marks),
        delay_ns: u64::from(delay_us) * 1000,
        delay_l4s_ns: u64::from(delay_l4s_us) * 1000,
    }
}
