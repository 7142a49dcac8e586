//! Token buckets: tbf and htb (net/sched/sch_tbf.c, sch_htb.c, Linux 7.2).

use crate::netlink::Message;

use super::message::TCA_OPTIONS;
use super::ticks::{
    DEFAULT_TABLE_MTU, Rate, bytes_per_second, needs_rate64, transmit_ticks, words,
};

const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RTAB: u16 = 2;
const TCA_TBF_PTAB: u16 = 3;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_PRATE64: u16 = 5;
const TCA_TBF_BURST: u16 = 6;
const TCA_TBF_PBURST: u16 = 7;

const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_INIT: u16 = 2;
const TCA_HTB_CTAB: u16 = 3;
const TCA_HTB_RTAB: u16 = 4;
const TCA_HTB_DIRECT_QLEN: u16 = 5;
const TCA_HTB_RATE64: u16 = 6;
const TCA_HTB_CEIL64: u16 = 7;
/// `TC_HTB_PROTOVER`.
const HTB_VERSION: u32 = 3;
/// iproute2's default of `r2q` (tc/q_htb.c).
const HTB_RATE_TO_QUANTUM: u32 = 10;
/// iproute2's assumed packet length for bursts and tables (tc/q_htb.c).
const HTB_MTU: u32 = 1600;
/// The clock of htb has ticks of 1 ns, so that a burst of one tick is `rate / 10^9` bytes.
const HTB_HZ: u64 = 1_000_000_000;

/// Options of tbf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tbf {
    /// Rate, bits a second, link headers included.
    pub rate_bps: u64,
    /// Burst after idling, bytes. Packets longer than it are dropped.
    pub burst_bytes: u32,
    /// Queue before the bucket, bytes. It is a bfifo that a child qdisc may replace.
    pub limit_bytes: u32,
    /// Longest packet of the rate table; absent = 2047.
    pub table_mtu_bytes: Option<u32>,
    /// Rate at which the bucket may be emptied; absent = at once.
    pub peak: Option<TbfPeak>,
}

/// The second bucket of tbf, which every packet must pass as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TbfPeak {
    /// Its rate, bits a second, above that of the first.
    pub rate_bps: u64,
    /// Bucket size, the burst, bytes. Packets longer than it are dropped, or cut up if they are
    /// segments of several.
    pub burst_bytes: u32,
}

impl Tbf {
    pub(super) fn encode(&self, m: &mut Message) {
        let bytes_per_s = bytes_per_second(self.rate_bps);
        let rate = Rate::new(
            bytes_per_s,
            self.table_mtu_bytes.unwrap_or(DEFAULT_TABLE_MTU),
        );
        let peak = self.peak.map(|peak| {
            let bytes_per_s = bytes_per_second(peak.rate_bps);
            let table_mtu = self.table_mtu_bytes.unwrap_or(DEFAULT_TABLE_MTU);
            (peak, bytes_per_s, Rate::new(bytes_per_s, table_mtu))
        });
        m.nest(TCA_OPTIONS, |m| {
            let own = peak.as_ref().map(|(peak, bytes, rate)| {
                let ticks = transmit_ticks(*bytes, u64::from(peak.burst_bytes));
                (&rate.spec, ticks)
            });
            m.attr(TCA_TBF_PARMS, &self.qopt(bytes_per_s, &rate, own));
            m.u32(TCA_TBF_BURST, self.burst_bytes);
            if needs_rate64(bytes_per_s) {
                m.u64(TCA_TBF_RATE64, bytes_per_s);
            }
            m.attr(TCA_TBF_RTAB, &rate.table);
            if let Some((peak, bytes_per_s, rate)) = &peak {
                m.u32(TCA_TBF_PBURST, peak.burst_bytes);
                if needs_rate64(*bytes_per_s) {
                    m.u64(TCA_TBF_PRATE64, *bytes_per_s);
                }
                m.attr(TCA_TBF_PTAB, &rate.table);
            }
        });
    }

    /// `struct tc_tbf_qopt`: rate, peak rate, limit, buffer in ticks (`TCA_TBF_BURST` overrides
    /// it), size of the peak's bucket in ticks (`TCA_TBF_PBURST` overrides it).
    fn qopt(&self, bytes_per_s: u64, rate: &Rate, peak: Option<(&[u8; 12], u32)>) -> Vec<u8> {
        let buffer = transmit_ticks(bytes_per_s, u64::from(self.burst_bytes));
        let (spec, peak_buffer) = peak.unwrap_or((&Rate::NONE, 0));
        let tail = words(&[self.limit_bytes, buffer, peak_buffer]);
        [&rate.spec[..], spec, &tail].concat()
    }
}

/// Options of the htb queue discipline itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Htb {
    /// Minor number of the default class, for packets that match no filter; 0 = such packets pass
    /// unshaped.
    pub default_class: u32,
    /// Packets of the queue of unshaped traffic.
    pub direct_qlen: Option<u32>,
}

impl Htb {
    /// `struct tc_htb_glob`: version, rate2quantum, default class, debug, direct packets.
    pub(super) fn encode(&self, m: &mut Message) {
        let glob = words(&[HTB_VERSION, HTB_RATE_TO_QUANTUM, self.default_class, 0, 0]);
        m.nest(TCA_OPTIONS, |m| {
            m.attr(TCA_HTB_INIT, &glob);
            m.opt_u32(TCA_HTB_DIRECT_QLEN, self.direct_qlen);
        });
    }
}

/// Options of an htb class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HtbClass {
    /// Assured rate, bits a second.
    pub rate_bps: u64,
    /// Rate with borrowing, bits a second; absent = `rate_bps`.
    pub ceil_bps: Option<u64>,
    /// Bucket of the rate, bytes; absent = one packet of 1600.
    pub burst_bytes: Option<u32>,
    /// Bucket of the ceiling, bytes; absent = one packet of 1600.
    pub ceil_burst_bytes: Option<u32>,
    /// Bytes a round among classes that borrow; absent = a tenth of the rate's bytes a second.
    pub quantum_bytes: Option<u32>,
    /// Priority among classes that borrow, 0 first.
    pub priority: u32,
}

impl HtbClass {
    pub(super) fn encode(&self, m: &mut Message) {
        let rate_s = bytes_per_second(self.rate_bps);
        let ceil_s = self.ceil_bps.map_or(rate_s, bytes_per_second);
        let rate = Rate::new(rate_s, HTB_MTU);
        let ceil = Rate::new(ceil_s, HTB_MTU);
        let opt = self.opt(&rate, &ceil, rate_s, ceil_s);
        m.nest(TCA_OPTIONS, |m| {
            if needs_rate64(rate_s) {
                m.u64(TCA_HTB_RATE64, rate_s);
            }
            if needs_rate64(ceil_s) {
                m.u64(TCA_HTB_CEIL64, ceil_s);
            }
            m.attr(TCA_HTB_PARMS, &opt);
            m.attr(TCA_HTB_RTAB, &rate.table);
            m.attr(TCA_HTB_CTAB, &ceil.table);
        });
    }

    /// `struct tc_htb_opt`: rate, ceil, buffer and cbuffer in ticks, quantum, level, prio.
    fn opt(&self, rate: &Rate, ceil: &Rate, rate_s: u64, ceil_s: u64) -> Vec<u8> {
        let burst = self
            .burst_bytes
            .map_or_else(|| default_burst(rate_s), u64::from);
        let ceil_burst = self
            .ceil_burst_bytes
            .map_or_else(|| default_burst(ceil_s), u64::from);
        let tail = words(&[
            transmit_ticks(rate_s, burst),
            transmit_ticks(ceil_s, ceil_burst),
            self.quantum_bytes.unwrap_or(0),
            0,
            self.priority,
        ]);
        [&rate.spec[..], &ceil.spec, &tail].concat()
    }
}

fn default_burst(bytes_per_s: u64) -> u64 {
    bytes_per_s / HTB_HZ + u64::from(HTB_MTU)
}
