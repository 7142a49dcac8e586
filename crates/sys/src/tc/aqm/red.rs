//! Random early detection (net/sched/sch_red.c, include/net/red.h, Linux 7.2), with the arithmetic
//! of iproute2's tc/tc_red.c and tc/q_red.c: the kernel expects logarithms and a table of the
//! average's decay.

use crate::netlink::Message;

use super::super::message::TCA_OPTIONS;
use super::super::ticks::{bytes_per_second, transmit_ticks, words};

const TCA_RED_PARMS: u16 = 1;
const TCA_RED_STAB: u16 = 2;
const TCA_RED_MAX_P: u16 = 3;
const TCA_RED_FLAGS: u16 = 4;
const TC_RED_ECN: u32 = 1;
const TC_RED_HARDDROP: u32 = 2;
const TC_RED_ADAPTATIVE: u32 = 4;
const TC_RED_NODROP: u32 = 8;
/// Flags covered by the attribute.
const TC_RED_ALL_FLAGS: u32 = 15;
/// `RED_STAB_SIZE`.
const STAB_SIZE: usize = 256;
/// Largest exponent of the decay table's entries; the kernel refuses 32.
const STAB_MAX: f64 = 31.0;
/// Returned if there is no valid exponent: the kernel rejects it, so the caller gets that error.
const NOT_FOUND: u8 = 32;

/// Options of red.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    /// Hard limit of the queue, bytes.
    pub limit_bytes: u32,
    /// Average queue at which dropping starts, bytes.
    pub min_bytes: u32,
    /// Average queue at which the probability is highest, bytes.
    pub max_bytes: u32,
    /// Average packet, bytes; 1000 is usual.
    pub packet_bytes: u32,
    /// Packets that may arrive at once without dropping; absent = `(2 min + max) / (3 packet)`.
    pub burst_packets: Option<u32>,
    /// Probability of dropping at `max_bytes`, 0 to 1; 0.02 is usual.
    pub probability: f64,
    /// Rate of the link, bits a second: how fast the average decays while the queue is empty.
    pub bandwidth_bps: u64,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// With `ecn`, drops above `max_bytes` instead of marking.
    pub harddrop: bool,
    /// Adapts the probability to keep the average between the thresholds. Has no effect with
    /// `nodrop`.
    pub adaptive: bool,
    /// With `ecn`, packets that cannot be marked are not dropped.
    pub nodrop: bool,
}

impl Red {
    pub(in crate::tc) fn encode(&self, m: &mut Message) {
        let wlog = self.wlog();
        let (scell_log, stab) = self.decay_table(wlog);
        m.nest(TCA_OPTIONS, |m| {
            m.attr(TCA_RED_PARMS, &self.qopt(wlog, scell_log));
            m.attr(TCA_RED_STAB, &stab);
            m.u32(TCA_RED_MAX_P, (self.probability * 4_294_967_296.0) as u32);
            if !self.adapts() {
                m.attr(TCA_RED_FLAGS, &words(&[self.flags(), TC_RED_ALL_FLAGS]));
            }
        });
    }

    /// `struct tc_red_qopt`: limit, qth_min, qth_max, Wlog, Plog, Scell_log, flags.
    fn qopt(&self, wlog: u8, scell_log: u8) -> Vec<u8> {
        let mut qopt = words(&[self.limit_bytes, self.min_bytes, self.max_bytes]);
        qopt.extend([wlog, self.plog(), scell_log, self.old_flags()]);
        qopt
    }

    fn flags(&self) -> u32 {
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        flag(self.ecn, TC_RED_ECN)
            | flag(self.harddrop, TC_RED_HARDDROP)
            | flag(self.adaptive, TC_RED_ADAPTATIVE)
            | flag(self.nodrop, TC_RED_NODROP)
    }

    /// The kernel starts the timer of the adaptive mode for the old structure's flag only, refuses
    /// flags in both places, and supports `nodrop` in the attribute only.
    fn adapts(&self) -> bool {
        self.adaptive && !self.nodrop
    }

    fn old_flags(&self) -> u8 {
        if self.adapts() { self.flags() as u8 } else { 0 }
    }

    fn burst(&self) -> f64 {
        let packets = self.burst_packets.unwrap_or_else(|| {
            let bytes = 2 * u64::from(self.min_bytes) + u64::from(self.max_bytes);
            let packets = bytes / (3 * u64::from(self.packet_bytes.max(1)));
            u32::try_from(packets).unwrap_or(u32::MAX)
        });
        f64::from(packets)
    }

    /// Weight of the average as a power of two (`tc_red_eval_ewma`).
    fn wlog(&self) -> u8 {
        let burst = self.burst();
        let room = burst + 1.0 - f64::from(self.min_bytes) / f64::from(self.packet_bytes.max(1));
        let mut weight = 0.5f64;
        for wlog in 1..NOT_FOUND {
            if room <= (1.0 - (1.0 - weight).powf(burst)) / weight {
                return wlog;
            }
            weight /= 2.0;
        }
        NOT_FOUND
    }

    /// Slope of the probability as a power of two (`tc_red_eval_P`).
    fn plog(&self) -> u8 {
        let span = self.max_bytes.saturating_sub(self.min_bytes);
        if span == 0 {
            return 0;
        }
        let mut slope = self.probability / f64::from(span);
        let mut log = 0;
        while slope <= 1.0 && log < NOT_FOUND {
            slope *= 2.0;
            log += 1;
        }
        log
    }

    /// Cell size as a power of two, and the decay for 256 cells of idle time
    /// (`tc_red_eval_idle_damping`).
    fn decay_table(&self, wlog: u8) -> (u8, [u8; STAB_SIZE]) {
        let ticks = transmit_ticks(
            bytes_per_second(self.bandwidth_bps),
            u64::from(self.packet_bytes),
        );
        let decay = -(1.0 - 1.0 / 2f64.powi(i32::from(wlog))).ln() / f64::from(ticks);
        let longest = STAB_MAX / decay;
        let mut cell_log = 0;
        while cell_log < NOT_FOUND && longest / 2f64.powi(i32::from(cell_log)) >= 512.0 {
            cell_log += 1;
        }
        let cell = 2f64.powi(i32::from(cell_log));
        let mut stab = [STAB_MAX as u8; STAB_SIZE];
        for (i, entry) in (0..255u8).zip(&mut stab) {
            *entry = (f64::from(i) * cell * decay).min(STAB_MAX) as u8;
        }
        (cell_log, stab)
    }
}
