//! Additional counters of single kinds of queue disciplines (`TCA_STATS_APP`;
//! include/uapi/linux/pkt_sched.h, Linux 7.2).

use crate::bytes;
use crate::netlink::Attrs;

const TCA_CAKE_STATS_MEMORY_USED: u16 = 4;
const TCA_CAKE_STATS_TIN_STATS: u16 = 10;
const TCA_CAKE_TIN_STATS_DROPPED_PACKETS: u16 = 4;
const TCA_CAKE_TIN_STATS_ACKS_DROPPED_PACKETS: u16 = 6;
const TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS: u16 = 8;
const TCA_CAKE_TIN_STATS_PEAK_DELAY_US: u16 = 18;
const TCA_CAKE_TIN_STATS_AVG_DELAY_US: u16 = 19;
/// `TCA_FQ_CODEL_XSTATS_QDISC`.
const FQ_CODEL_XSTATS_QDISC: u32 = 0;

/// Counters of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QdiscExtra {
    /// `struct tc_netem_xstats`, new in Linux 7.2.
    Netem {
        /// Packets delayed.
        delayed: u64,
        /// Packets dropped by the loss model, which the common drop counter mixes with overflows.
        dropped: u64,
        /// Packets with a bit flipped.
        corrupted: u64,
        /// Duplicated packets.
        duplicated: u64,
        /// Packets that skipped the delay.
        reordered: u64,
        /// Packets marked instead of dropped.
        ecn_marked: u64,
    },
    /// `struct tc_path_xstats`.
    Path {
        /// Bytes that have left the queue, link headers included.
        bytes: u64,
        /// Packets that have left the queue.
        packets: u64,
        /// Packets that could be lost by chance, copies included.
        faced: u64,
        /// Packets of those that were lost.
        lost: u64,
        /// Packets offered to its policer.
        offered: u64,
        /// Packets of those that it dropped.
        policed: u64,
        /// Packets for which its own queue was full.
        drops: u32,
        /// Packets in its own queue.
        qlen: u32,
        /// Bytes in its own queue.
        backlog_bytes: u32,
    },
    /// `struct tc_codel_xstats`.
    Codel {
        /// Delay of the last dequeued packet, us.
        ldelay_us: u32,
        /// Drops in the present dropping state.
        count: u32,
        /// Packets dropped because the queue was full.
        drop_overlimit: u32,
        /// Packets marked instead of dropped.
        ecn_mark: u32,
        /// Packets marked for the threshold.
        ce_mark: u32,
        /// True if it is in the dropping state.
        dropping: bool,
    },
    /// `struct tc_fq_codel_qd_stats`.
    FqCodel {
        /// Packets dropped because the queue was full.
        drop_overlimit: u32,
        /// Packets marked instead of dropped.
        ecn_mark: u32,
        /// Packets marked for the threshold.
        ce_mark: u32,
        /// Flows begun.
        new_flow_count: u32,
        /// Bytes of memory in use.
        memory_bytes: u32,
        /// Packets dropped because memory was full.
        drop_overmemory: u32,
    },
    /// `struct tc_fq_qd_stats`.
    Fq {
        /// Number of times a flow was throttled by pacing.
        throttled: u64,
        /// Packets dropped by the flow limit.
        flows_plimit: u64,
        /// Flows.
        flows: u32,
        /// Currently throttled flows.
        throttled_flows: u32,
        /// Packets marked for the threshold.
        ce_mark: u64,
        /// Packets dropped for a departure beyond the horizon.
        horizon_drops: u64,
    },
    /// `struct tc_pie_xstats`.
    Pie {
        /// Probability now, 0 to 1.
        prob: f64,
        /// Delay now, us.
        delay_us: u32,
        /// Packets dropped at random.
        dropped: u32,
        /// Packets dropped because the queue was full.
        overlimit: u32,
        /// Packets marked instead of dropped.
        ecn_mark: u32,
    },
    /// Sum, or for delays the largest, of cake's tins.
    Cake {
        /// Packets dropped.
        dropped: u32,
        /// Acknowledgements dropped as superfluous.
        acks_dropped: u32,
        /// Packets marked instead of dropped.
        ecn_mark: u32,
        /// Smoothed delay of the busiest flows, us.
        peak_delay_us: u32,
        /// Smoothed delay, us.
        avg_delay_us: u32,
        /// Maximum memory in use, bytes.
        memory_bytes: u32,
    },
    /// `struct tc_dualpi2_xstats`.
    DualPi2 {
        /// Probability now, 0 to 1.
        prob: f64,
        /// Delay now of the classic queue, us.
        delay_c_us: u32,
        /// Delay now of the low-latency queue, us.
        delay_l_us: u32,
        /// Packets that entered the classic queue.
        packets_in_c: u32,
        /// Packets that entered the low-latency queue.
        packets_in_l: u32,
        /// Packets marked.
        ecn_mark: u32,
        /// Packets marked by the step.
        step_mark: u32,
    },
    /// `struct tc_red_xstats`.
    Red {
        /// Packets dropped early.
        early: u32,
        /// Packets dropped because the queue was full.
        overlimit: u32,
        /// Packets marked instead of dropped.
        marked: u32,
    },
}

impl QdiscExtra {
    pub(super) fn parse(kind: &str, xstats: &[u8]) -> Option<QdiscExtra> {
        match kind {
            "netem" => netem(xstats),
            "path" => path(xstats),
            "codel" => codel(xstats),
            "fq_codel" => fq_codel(xstats),
            "fq" => fq(xstats),
            "pie" => pie(xstats),
            "cake" => Some(cake(Attrs::new(xstats))),
            "dualpi2" => dualpi2(xstats),
            "red" => red(xstats),
            _ => None,
        }
    }
}

/// The `i`-th 32-bit field.
fn w32(xstats: &[u8], i: usize) -> Option<u32> {
    bytes::u32_at(xstats, i * 4)
}

/// The `i`-th 64-bit field.
fn w64(xstats: &[u8], i: usize) -> Option<u64> {
    bytes::u64_at(xstats, i * 8)
}

fn netem(x: &[u8]) -> Option<QdiscExtra> {
    Some(QdiscExtra::Netem {
        delayed: w64(x, 0)?,
        dropped: w64(x, 1)?,
        corrupted: w64(x, 2)?,
        duplicated: w64(x, 3)?,
        reordered: w64(x, 4)?,
        ecn_marked: w64(x, 5)?,
    })
}

fn path(b: &[u8]) -> Option<QdiscExtra> {
    Some(QdiscExtra::Path {
        bytes: bytes::u64_at(b, 0)?,
        packets: bytes::u64_at(b, 8)?,
        lost: bytes::u64_at(b, 16)?,
        drops: bytes::u32_at(b, 24)?,
        qlen: bytes::u32_at(b, 28)?,
        backlog_bytes: bytes::u32_at(b, 32)?,
        faced: bytes::u64_at(b, 40)?,
        offered: bytes::u64_at(b, 48)?,
        policed: bytes::u64_at(b, 56)?,
    })
}

fn codel(x: &[u8]) -> Option<QdiscExtra> {
    Some(QdiscExtra::Codel {
        count: w32(x, 1)?,
        ldelay_us: w32(x, 3)?,
        drop_overlimit: w32(x, 5)?,
        ecn_mark: w32(x, 6)?,
        dropping: w32(x, 7)? != 0,
        ce_mark: w32(x, 8).unwrap_or_default(),
    })
}

/// Starts with the type of the following data.
fn fq_codel(x: &[u8]) -> Option<QdiscExtra> {
    if w32(x, 0)? != FQ_CODEL_XSTATS_QDISC {
        return None;
    }
    Some(QdiscExtra::FqCodel {
        drop_overlimit: w32(x, 2)?,
        ecn_mark: w32(x, 3)?,
        new_flow_count: w32(x, 4)?,
        ce_mark: w32(x, 7).unwrap_or_default(),
        memory_bytes: w32(x, 8).unwrap_or_default(),
        drop_overmemory: w32(x, 9).unwrap_or_default(),
    })
}

/// Eight 64-bit fields, four of 32 bits, then 64-bit ones again.
fn fq(x: &[u8]) -> Option<QdiscExtra> {
    Some(QdiscExtra::Fq {
        throttled: w64(x, 3)?,
        flows_plimit: w64(x, 4)?,
        flows: w32(x, 16)?,
        throttled_flows: w32(x, 18)?,
        ce_mark: w64(x, 10).unwrap_or_default(),
        horizon_drops: w64(x, 11).unwrap_or_default(),
    })
}

/// The kernel shifts its 56-bit probability up to 64 bits.
fn pie(x: &[u8]) -> Option<QdiscExtra> {
    Some(QdiscExtra::Pie {
        prob: w64(x, 0)? as f64 / 2f64.powi(64),
        delay_us: w32(x, 2)?,
        dropped: w32(x, 6)?,
        overlimit: w32(x, 7)?,
        ecn_mark: w32(x, 9)?,
    })
}

fn cake(stats: Attrs<'_>) -> QdiscExtra {
    let (mut dropped, mut acks_dropped, mut ecn_mark) = (0u32, 0u32, 0u32);
    let (mut peak_delay_us, mut avg_delay_us) = (0, 0);
    let tins = stats
        .get(TCA_CAKE_STATS_TIN_STATS)
        .map_or(Attrs::new(&[]), |t| t.nested());
    for tin in tins {
        let at = |kind| tin.nested().get(kind).and_then(|a| a.u32()).unwrap_or(0);
        dropped = dropped.wrapping_add(at(TCA_CAKE_TIN_STATS_DROPPED_PACKETS));
        acks_dropped = acks_dropped.wrapping_add(at(TCA_CAKE_TIN_STATS_ACKS_DROPPED_PACKETS));
        ecn_mark = ecn_mark.wrapping_add(at(TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS));
        peak_delay_us = at(TCA_CAKE_TIN_STATS_PEAK_DELAY_US).max(peak_delay_us);
        avg_delay_us = at(TCA_CAKE_TIN_STATS_AVG_DELAY_US).max(avg_delay_us);
    }
    let memory_bytes = stats
        .get(TCA_CAKE_STATS_MEMORY_USED)
        .and_then(|a| a.u32())
        .unwrap_or(0);
    QdiscExtra::Cake {
        dropped,
        acks_dropped,
        ecn_mark,
        peak_delay_us,
        avg_delay_us,
        memory_bytes,
    }
}

fn dualpi2(x: &[u8]) -> Option<QdiscExtra> {
    Some(QdiscExtra::DualPi2 {
        prob: f64::from(w32(x, 0)?) / f64::from(u32::MAX),
        delay_c_us: w32(x, 1)?,
        delay_l_us: w32(x, 2)?,
        packets_in_c: w32(x, 3)?,
        packets_in_l: w32(x, 4)?,
        ecn_mark: w32(x, 6)?,
        step_mark: w32(x, 7)?,
    })
}

fn red(x: &[u8]) -> Option<QdiscExtra> {
    Some(QdiscExtra::Red {
        early: w32(x, 0)?,
        overlimit: w32(x, 1)?,
        marked: w32(x, 3)?,
    })
}
