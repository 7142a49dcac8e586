//! Network emulator: delay, jitter, loss, reordering, duplication, rate (net/sched/sch_netem.c,
//! Linux 7.2).

use crate::netlink::{Message, NLA_F_NESTED};

use super::message::TCA_OPTIONS;
use super::ticks::{bytes_per_second, needs_rate64, probability, rate32, ticks, words};

const TCA_NETEM_DELAY_DIST: u16 = 2;
const TCA_NETEM_REORDER: u16 = 3;
const TCA_NETEM_CORRUPT: u16 = 4;
const TCA_NETEM_LOSS: u16 = 5;
const TCA_NETEM_RATE: u16 = 6;
const TCA_NETEM_ECN: u16 = 7;
const TCA_NETEM_RATE64: u16 = 8;
const TCA_NETEM_LATENCY64: u16 = 10;
const TCA_NETEM_JITTER64: u16 = 11;
const TCA_NETEM_SLOT: u16 = 12;
const TCA_NETEM_PRNG_SEED: u16 = 14;
const NETEM_LOSS_GE: u16 = 2;
/// iproute2's default limit; the kernel has no default.
const DEFAULT_LIMIT_PACKETS: u32 = 1000;

/// Scale of the values of a distribution: this value is one `jitter_ns` (`NETEM_DIST_SCALE`).
pub const DISTRIBUTION_SCALE: i32 = 8192;
/// Maximum number of values of a distribution (`NETEM_DIST_MAX`).
pub const DISTRIBUTION_MAX: usize = 16384;

/// Options of netem; the default passes packets unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Netem {
    /// Delay of every packet, ns.
    pub delay_ns: u64,
    /// Deviation of the delay, uniform in ± this, ns. Packets are reordered if it exceeds their
    /// spacing.
    pub jitter_ns: u64,
    /// Distribution of the deviation instead of the uniform one: values drawn with equal
    /// probability, in units of `jitter_ns` / [`DISTRIBUTION_SCALE`]; empty = uniform.
    pub distribution: Vec<i16>,
    /// Packets held, delayed ones included; absent = 1000.
    pub limit_packets: Option<u32>,
    /// Loss.
    pub loss: Option<Loss>,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Packets that skip the delay and are thereby reordered; needs a delay.
    pub reorder: Option<Reorder>,
    /// Share of duplicated packets.
    pub duplicate: f64,
    /// Share of packets with a bit flipped.
    pub corrupt: f64,
    /// Rate, bits a second; the queue before it shares the limit with the delayed packets.
    pub rate_bps: Option<u64>,
    /// Bytes added to each packet's length for the rate; may be negative.
    pub rate_overhead_bytes: i32,
    /// Time from the first waiting packet until all waiting packets leave, ns; absent = each leaves
    /// at its own time.
    pub slot_ns: Option<u64>,
    /// Seed of the random numbers, so that a run can be repeated (since Linux 6.6).
    pub seed: Option<u64>,
}

/// Model of loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each packet is lost with this probability, independently of others.
    Random(f64),
    /// Bursts.
    Gemodel(Gemodel),
}

/// Gilbert-Elliott model: a good and a bad state, each with its loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gemodel {
    /// Probability, per packet, of going from good to bad.
    pub p: f64,
    /// Probability, per packet, of going from bad to good.
    pub r: f64,
    /// Loss in the bad state (`1-h` of iproute2; there it is 1 by default).
    pub bad_loss: f64,
    /// Loss in the good state (`1-k` of iproute2; there it is 0 by default).
    pub good_loss: f64,
}

/// Reordering: which packets skip the delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability with which a candidate skips the delay.
    pub probability: f64,
    /// Every `gap`-th packet is a candidate; 1 = all.
    pub gap: u32,
}

impl Netem {
    pub(super) fn encode(&self, m: &mut Message) {
        m.nest(TCA_OPTIONS, |m| {
            m.raw(&self.qopt());
            m.u64(TCA_NETEM_LATENCY64, self.delay_ns);
            m.u64(TCA_NETEM_JITTER64, self.jitter_ns);
            if !self.distribution.is_empty() {
                let values = self.distribution.iter().flat_map(|v| v.to_ne_bytes());
                m.attr(TCA_NETEM_DELAY_DIST, &values.collect::<Vec<u8>>());
            }
            if let Some(reorder) = &self.reorder {
                m.attr(
                    TCA_NETEM_REORDER,
                    &words(&[probability(reorder.probability), 0]),
                );
            }
            if self.ecn {
                m.u32(TCA_NETEM_ECN, 1);
            }
            if self.corrupt > 0.0 {
                m.attr(TCA_NETEM_CORRUPT, &words(&[probability(self.corrupt), 0]));
            }
            if let Some(Loss::Gemodel(model)) = &self.loss {
                m.nest(TCA_NETEM_LOSS | NLA_F_NESTED, |m| model.encode(m));
            }
            self.encode_rate(m);
            if let Some(slot) = self.slot_ns {
                m.attr(TCA_NETEM_SLOT, &slot_of(slot));
            }
            if let Some(seed) = self.seed {
                m.u64(TCA_NETEM_PRNG_SEED, seed);
            }
        });
    }

    /// `struct tc_netem_qopt`: latency, limit, loss, gap, duplicate, jitter. The 64-bit attributes
    /// override the times, which only kernels before 4.15 read.
    fn qopt(&self) -> Vec<u8> {
        let limit = self.limit_packets.unwrap_or(DEFAULT_LIMIT_PACKETS);
        let loss = match self.loss {
            Some(Loss::Random(share)) => probability(share),
            _ => 0,
        };
        let gap = self.reorder.map_or(0, |r| r.gap.max(1));
        let duplicate = probability(self.duplicate);
        words(&[
            ticks(self.delay_ns),
            limit,
            loss,
            gap,
            duplicate,
            ticks(self.jitter_ns),
        ])
    }

    /// `struct tc_netem_rate`: rate, packet overhead, cell size, cell overhead.
    fn encode_rate(&self, m: &mut Message) {
        let Some(rate) = self.rate_bps.map(bytes_per_second) else {
            return;
        };
        if needs_rate64(rate) {
            m.u64(TCA_NETEM_RATE64, rate);
        }
        let overhead = self.rate_overhead_bytes.cast_unsigned();
        m.attr(TCA_NETEM_RATE, &words(&[rate32(rate), overhead, 0, 0]));
    }
}

/// `struct tc_netem_slot`: least and most delay, packets and bytes of a slot (0 = any), and the
/// delay and jitter of a distribution of slots.
fn slot_of(ns: u64) -> Vec<u8> {
    let ns = i64::try_from(ns).unwrap_or(i64::MAX).to_ne_bytes();
    [&ns[..], &ns, &[0; 8], &[0; 16]].concat()
}

impl Gemodel {
    fn encode(&self, m: &mut Message) {
        m.attr(NETEM_LOSS_GE, &self.words());
    }

    /// `struct tc_netem_gemodel`: p, r, h, 1-k.
    pub(super) fn words(&self) -> Vec<u8> {
        let h = u32::MAX - probability(self.bad_loss);
        words(&[
            probability(self.p),
            probability(self.r),
            h,
            probability(self.good_loss),
        ])
    }
}
