//! One direction of a path: a rate with a queue, and a delay before or after it, with loss between
//! the two (net/sched/sch_path.c of the lab's kernel; no other kernel has it).

use crate::netlink::Message;

use super::{
    message::TCA_OPTIONS,
    netem::Loss,
    shaper::TbfPeak,
    ticks::{bytes_per_second, probability},
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

/// Options of `path`.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The rate; absent = that of a child queue.
    pub bucket: Option<Bucket>,
    /// Capacity of its own queue, which a child may replace.
    pub limit: PathLimit,
    /// Delay of every packet, ns.
    pub delay_ns: u64,
    /// True if the delay is before the queue, else it is after it.
    pub delay_first: bool,
    /// Loss of packets that have left the queue.
    pub loss: Option<Loss>,
    /// Seed of the random numbers of the loss.
    pub seed: Option<u64>,
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
            if let Some(bucket) = self.bucket {
                bucket.encode(m);
            }
            match self.limit {
                PathLimit::Bytes(bytes) => m.u32(TCA_PATH_LIMIT_BYTES, bytes),
                PathLimit::Packets(packets) => m.u32(TCA_PATH_LIMIT_PACKETS, packets),
            };
            m.u64(TCA_PATH_DELAY, self.delay_ns);
            if self.delay_first {
                m.attr(TCA_PATH_DELAY_FIRST, &[]);
            }
            match &self.loss {
                None => &mut *m,
                Some(Loss::Random(share)) => m.u32(TCA_PATH_LOSS, probability(*share)),
                Some(Loss::Gemodel(model)) => m.attr(TCA_PATH_BURST_LOSS, &model.words()),
            };
            if let Some(seed) = self.seed {
                m.u64(TCA_PATH_SEED, seed);
            }
        });
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
