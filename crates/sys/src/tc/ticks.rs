//! Conversion to the kernel's clock of token buckets, and rate tables.
//!
//! A tick is 64 ns (`PSCHED_SHIFT`, include/net/pkt_sched.h, Linux 7.2). Rate tables are only read
//! when a rate's link layer is unknown, but police requires one, and iproute2 always sends one for
//! tbf and htb.

/// `PSCHED_SHIFT`.
pub(super) const NS_PER_TICK: u64 = 64;
/// Size of a rate table in entries of 4 bytes (`TC_RTAB_SIZE` is 1024).
const RTAB_ENTRIES: u32 = 256;
/// Link layer Ethernet: lengths are taken unchanged (`TC_LINKLAYER_ETHERNET`).
const TC_LINKLAYER_ETHERNET: u8 = 1;
/// Packet length that a rate table covers by default, as in iproute2 (tc/tc_core.c).
pub(super) const DEFAULT_TABLE_MTU: u32 = 2047;

/// Bytes a second of bits a second, rounded down.
pub(super) fn bytes_per_second(rate_bps: u64) -> u64 {
    rate_bps / 8
}

/// The 32-bit rate of the old structures: all ones means that a 64-bit attribute holds it.
pub(super) fn rate32(bytes_per_s: u64) -> u32 {
    u32::try_from(bytes_per_s).unwrap_or(u32::MAX)
}

/// Returns true if a rate needs its 64-bit attribute.
pub(super) fn needs_rate64(bytes_per_s: u64) -> bool {
    bytes_per_s > u64::from(u32::MAX)
}

/// A time in ticks, rounded down.
pub(super) fn ticks(ns: u64) -> u32 {
    u32::try_from(ns / NS_PER_TICK).unwrap_or(u32::MAX)
}

/// Time to send `size` bytes, in ticks, rounded up (`tc_calc_xmittime` of iproute2).
pub(super) fn transmit_ticks(bytes_per_s: u64, size: u64) -> u32 {
    let ns = u128::from(size) * 1_000_000_000;
    let ticks = ns.div_ceil(u128::from(NS_PER_TICK) * u128::from(bytes_per_s.max(1)));
    u32::try_from(ticks).unwrap_or(u32::MAX)
}

/// `struct tc_ratespec` and the rate table that belongs to it.
pub(super) struct Rate {
    /// `struct tc_ratespec`, 12 bytes.
    pub(super) spec: [u8; 12],
    /// 256 transmission times in ticks.
    pub(super) table: Vec<u8>,
}

impl Rate {
    /// The rate for packets up to `mtu` bytes.
    pub(super) fn new(bytes_per_s: u64, mtu: u32) -> Rate {
        let cell_log = cell_log(mtu);
        let table = (1..=RTAB_ENTRIES)
            .flat_map(|cell| transmit_ticks(bytes_per_s, u64::from(cell) << cell_log).to_ne_bytes())
            .collect();
        Rate {
            spec: ratespec(bytes_per_s, cell_log),
            table,
        }
    }

    /// No rate: `struct tc_ratespec` all zero.
    pub(super) const NONE: [u8; 12] = [0; 12];
}

/// The smallest cell with which 256 cells cover `mtu` bytes.
fn cell_log(mtu: u32) -> u8 {
    let mtu = if mtu == 0 { DEFAULT_TABLE_MTU } else { mtu };
    let mut log = 0;
    while mtu >> log > 255 {
        log += 1;
    }
    log
}

/// `struct tc_ratespec`: cell_log, linklayer, overhead, cell_align, mpu, rate.
fn ratespec(bytes_per_s: u64, cell_log: u8) -> [u8; 12] {
    let mut spec = [0; 12];
    spec[0] = cell_log;
    spec[1] = TC_LINKLAYER_ETHERNET;
    spec[4..6].copy_from_slice(&(-1i16).to_ne_bytes());
    spec[8..12].copy_from_slice(&rate32(bytes_per_s).to_ne_bytes());
    spec
}

/// Concatenates 32-bit fields of a C structure.
pub(super) fn words(fields: &[u32]) -> Vec<u8> {
    fields.iter().flat_map(|f| f.to_ne_bytes()).collect()
}

/// A share from 0 to 1 as the kernel's 32-bit probability.
pub(super) fn probability(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * f64::from(u32::MAX)).round_ties_even() as u32
}
