//! Ranges of the values of a cell.

use std::time::Duration;

use crate::units::{Bytes, Rate};

/// Fastest rate: 1 Tbit/s.
pub const MAX_RATE: Rate = Rate::from_bps(1_000_000_000_000);
/// Longest span of time: a week.
pub const MAX_TIME: Duration = Duration::from_secs(7 * 24 * 3600);
/// Largest size: 1 TB.
pub const MAX_SIZE: Bytes = Bytes(1_000_000_000_000);
/// Largest period of periodic loss that the kernel supports (`tc_gact_p`).
pub const MAX_EVERY: u16 = u16::MAX;
/// Maximum number of flows of a cell, including both directions and cross traffic.
pub const MAX_FLOWS: u64 = 4096;
/// Datagram size that every IPv4 host must accept (RFC 791).
pub const MIN_MTU_V4: u32 = 576;
/// Smallest MTU of IPv6 (RFC 8200, 5).
pub const MIN_MTU_V6: u32 = 1280;
/// Largest MTU: the length field of IP has 16 bits.
pub const MAX_MTU: u32 = 65_535;
/// Shortest measured time, and shortest sampling interval.
pub const MIN_TIME: Duration = Duration::from_millis(1);
/// Shortest interval of probes.
pub const MIN_PROBE: Duration = Duration::from_micros(100);
/// A socket buffer has at least a page.
pub const MIN_SOCKET: Bytes = Bytes(4096);
/// A socket buffer is an `int` in the kernel.
pub const MAX_SOCKET: Bytes = Bytes(i32::MAX as u64);
/// `tcp_notsent_lowat` is an `unsigned int` in the kernel.
pub const MAX_LOWAT: Bytes = Bytes(u32::MAX as u64);
/// Smallest datagram that holds the receiver's header.
pub const MIN_PAYLOAD: u32 = 32;
/// Largest payload of a UDP datagram over IPv4.
pub const MAX_PAYLOAD: u32 = 65_507;
/// The kernel's queues use 32-bit byte limits.
pub const MAX_BUFFER: Bytes = Bytes(u32::MAX as u64);
/// Slowest rate of a step: one full packet in 0.2 s. A packet that waits for the old rate delays a
/// change by at most its own time.
pub const MIN_STEP: Rate = Rate::from_bps(64_000);
/// Maximum number of changes of a rate.
pub const MAX_STEPS: usize = 100_000;
/// Longest added delay of a distribution: netem stores a quarter of it as 32 bits of ns
/// (`tabledist`, net/sched/sch_netem.c, Linux 7.2).
pub const MAX_QUANTILE: Duration = Duration::from_secs(8);
/// Longest time for which packets gather.
pub const MAX_SLOT: Duration = Duration::from_secs(10);
/// Maximum number of requests of a flow in a batch.
pub const MAX_REQUESTS: u32 = 1_000_000;
/// Longest name of a cell.
pub const MAX_NAME: usize = 100;
/// Longest name of a congestion control (`TCP_CA_NAME_MAX` includes the terminator).
pub const MAX_CC: usize = 15;
