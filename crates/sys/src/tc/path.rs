//! One direction of a path: a rate with a queue or a policer, and a delay with its faults before or
//! after it (net/sched/sch_path.c of the lab's kernel; no other kernel has it).

use crate::netlink::Message;

use super::{
    message::TCA_OPTIONS,
    netem::Loss,
    shaper::TbfPeak,
    ticks::{NS_PER_TICK, bytes_per_second, probability, transmit_ticks},
};

const TCA_PATH_RATE: u16 = 2;
const TCA_PATH_BURST: u16 = 3;
const TCA_PATH_PEAK: u16 = 4;
const TCA_PATH_PBURST: u16 = 5;
const TCA_PATH_LIMIT_BYTES: u16 = 6;
const TCA_PATH_LIMIT_PACKETS: u16 = 7;
const TCA_PATH_DELAY: u16 = 8;
const TCA_PATH_DELAY_FIRST: u16 = 9;
const TCA_PATH_LOSS: u16 = 10;
const TCA_PATH_BURST_LOSS: u16 = 11;
const TCA_PATH_SEED: u16 = 12;
const TCA_PATH_JITTER: u16 = 13;
const TCA_PATH_JITTER_TABLE: u16 = 14;
const TCA_PATH_SPACING: u16 = 15;
const TCA_PATH_REORDER: u16 = 16;
const TCA_PATH_DUPLICATE: u16 = 17;
const TCA_PATH_SLOT: u16 = 18;
const TCA_PATH_POLICE_RATE: u16 = 19;
const TCA_PATH_POLICE_BURST: u16 = 20;
const TCA_PATH_MTU: u16 = 21;

/// Options of `path`.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Policer in front of the queue; it needs `mtu_bytes`.
    pub policer: Option<PathPolicer>,
    /// The rate; absent = that of a child queue, or none.
    pub bucket: Option<Bucket>,
    /// Packets longer than this are dropped, or cut up if they are segments of several, before the
    /// policer, and before the faults where those come first; absent = only the bucket does so.
    pub mtu_bytes: Option<u32>,
    /// Capacity of its own queue, which a child may replace.
    pub limit: PathLimit,
    /// The delay with its faults.
    pub delay: PathDelay,
    /// True if they are before the queue, else they are after it.
    pub delay_first: bool,
    /// Seed of the random numbers of the faults; absent = at random, or as it was.
    pub seed: Option<u64>,
}

/// A policer, as the action of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPolicer {
    /// Rate, bits a second, link headers included.
    pub rate_bps: u64,
    /// Burst after idling, bytes.
    pub burst_bytes: u32,
}

/// A delay with its faults; the fields are those of [`super::Netem`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathDelay {
    /// Delay of every packet, ns.
    pub delay_ns: u64,
    /// Deviation of the delay, ns, at most 2^31 - 1.
    pub jitter_ns: u64,
    /// Distribution of the deviation; empty = uniform.
    pub distribution: Vec<i16>,
    /// Packets keep their order, as far apart as at this rate, bits a second; absent = one with a
    /// shorter delay overtakes others.
    pub spacing_bps: Option<u64>,
    /// Share of packets that skip the delay.
    pub reorder: f64,
    /// Share of duplicated packets.
    pub duplicate: f64,
    /// Time from the first waiting packet until all waiting packets leave, ns; absent = each leaves
    /// at its own time.
    pub slot_ns: Option<u64>,
    /// Loss.
    pub loss: Option<Loss>,
}

/// A token bucket, as that of tbf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Rate, bits a second, link headers included.
    pub rate_bps: u64,
    /// Burst after idling, bytes. Packets longer than it are dropped, or cut up if they are
    /// segments of several.
    pub burst_bytes: u32,
    /// Rate at which the bucket may be emptied; absent = at once.
    pub peak: Option<TbfPeak>,
}

/// Capacity of a fifo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathLimit {
    /// Bytes, link headers included.
    Bytes(u32),
    /// Packets.
    Packets(u32),
}

impl Path {
    pub(super) fn encode(&self, m: &mut Message) {
        m.nest(TCA_OPTIONS, |m| {
            if let Some(policer) = self.policer {
                policer.encode(m);
            }
            if let Some(bucket) = self.bucket {
                bucket.encode(m);
            }
            if let Some(mtu) = self.mtu_bytes {
                m.u32(TCA_PATH_MTU, mtu);
            }
            match self.limit {
                PathLimit::Bytes(bytes) => m.u32(TCA_PATH_LIMIT_BYTES, bytes),
                PathLimit::Packets(packets) => m.u32(TCA_PATH_LIMIT_PACKETS, packets),
            };
            self.delay.encode(m);
            if self.delay_first {
                m.attr(TCA_PATH_DELAY_FIRST, &[]);
            }
            if let Some(seed) = self.seed {
                m.u64(TCA_PATH_SEED, seed);
            }
        });
    }
}

impl PathPolicer {
    /// The burst is a time, in the ticks in which the action gets it.
    fn encode(self, m: &mut Message) {
        let rate = bytes_per_second(self.rate_bps);
        let burst = transmit_ticks(rate, u64::from(self.burst_bytes));
        m.u64(TCA_PATH_POLICE_RATE, rate);
        m.u64(TCA_PATH_POLICE_BURST, u64::from(burst) * NS_PER_TICK);
    }
}

impl PathDelay {
    fn encode(&self, m: &mut Message) {
        m.u64(TCA_PATH_DELAY, self.delay_ns);
        if self.jitter_ns > 0 {
            m.u64(TCA_PATH_JITTER, self.jitter_ns);
        }
        if !self.distribution.is_empty() {
            let values = self.distribution.iter().flat_map(|v| v.to_ne_bytes());
            m.attr(TCA_PATH_JITTER_TABLE, &values.collect::<Vec<u8>>());
        }
        if let Some(rate) = self.spacing_bps {
            m.u64(TCA_PATH_SPACING, bytes_per_second(rate));
        }
        for (name, share) in [
            (TCA_PATH_REORDER, self.reorder),
            (TCA_PATH_DUPLICATE, self.duplicate),
        ] {
            if share > 0.0 {
                m.u32(name, probability(share));
            }
        }
        if let Some(slot) = self.slot_ns {
            m.u64(TCA_PATH_SLOT, slot);
        }
        match &self.loss {
            None => &mut *m,
            Some(Loss::Random(share)) => m.u32(TCA_PATH_LOSS, probability(*share)),
            Some(Loss::Gemodel(model)) => m.attr(TCA_PATH_BURST_LOSS, &model.words()),
        };
    }
}

impl Bucket {
    fn encode(self, m: &mut Message) {
        m.u64(TCA_PATH_RATE, bytes_per_second(self.rate_bps));
        m.u32(TCA_PATH_BURST, self.burst_bytes);
        if let Some(peak) = self.peak {
            m.u64(TCA_PATH_PEAK, bytes_per_second(peak.rate_bps));
            m.u32(TCA_PATH_PBURST, peak.burst_bytes);
        }
    }
}
