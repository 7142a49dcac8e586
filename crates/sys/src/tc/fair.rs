//! Fair queues: fq and fq_codel (net/sched/sch_fq.c, sch_fq_codel.c, Linux 7.2).

use crate::netlink::Message;

use super::message::TCA_OPTIONS;
use super::ticks::{bytes_per_second, rate32};

const TCA_FQ_PLIMIT: u16 = 1;
const TCA_FQ_FLOW_PLIMIT: u16 = 2;
const TCA_FQ_QUANTUM: u16 = 3;
const TCA_FQ_INITIAL_QUANTUM: u16 = 4;
const TCA_FQ_RATE_ENABLE: u16 = 5;
const TCA_FQ_FLOW_MAX_RATE: u16 = 7;
const TCA_FQ_BUCKETS_LOG: u16 = 8;
const TCA_FQ_FLOW_REFILL_DELAY: u16 = 9;
const TCA_FQ_ORPHAN_MASK: u16 = 10;
const TCA_FQ_LOW_RATE_THRESHOLD: u16 = 11;
const TCA_FQ_CE_THRESHOLD: u16 = 12;
const TCA_FQ_TIMER_SLACK: u16 = 13;
const TCA_FQ_HORIZON: u16 = 14;
const TCA_FQ_HORIZON_DROP: u16 = 15;

const TCA_FQ_CODEL_TARGET: u16 = 1;
const TCA_FQ_CODEL_LIMIT: u16 = 2;
const TCA_FQ_CODEL_INTERVAL: u16 = 3;
const TCA_FQ_CODEL_ECN: u16 = 4;
const TCA_FQ_CODEL_FLOWS: u16 = 5;
const TCA_FQ_CODEL_QUANTUM: u16 = 6;
const TCA_FQ_CODEL_CE_THRESHOLD: u16 = 7;
const TCA_FQ_CODEL_DROP_BATCH_SIZE: u16 = 8;
const TCA_FQ_CODEL_MEMORY_LIMIT: u16 = 9;

/// Options of fq.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fq {
    /// Packets in all flows together.
    pub limit_packets: Option<u32>,
    /// Packets of one flow.
    pub flow_limit_packets: Option<u32>,
    /// Hash buckets, as a power of two.
    pub buckets_log: Option<u32>,
    /// Bytes a flow may send in a round.
    pub quantum_bytes: Option<u32>,
    /// Bytes a new flow may send at first.
    pub initial_quantum_bytes: Option<u32>,
    /// Highest rate of a flow, bits a second. The kernel's attribute ends at 2^32 - 1 bytes a
    /// second, which means unlimited.
    pub max_rate_bps: Option<u64>,
    /// True if flows are paced at the rate their sockets request.
    pub pacing: Option<bool>,
    /// Below this rate, bits a second, every packet is paced singly.
    pub low_rate_threshold_bps: Option<u64>,
    /// Idle time after which a flow gets new credit, us.
    pub refill_delay_us: Option<u32>,
    /// Mask on the hash of packets without a socket, which limits their flows.
    pub orphan_mask: Option<u32>,
    /// Delay above which ECN-capable packets are marked, us.
    pub ce_threshold_us: Option<u32>,
    /// Slack of pacing timers, ns.
    pub timer_slack_ns: Option<u32>,
    /// Maximum time from now to a packet's departure, us.
    pub horizon_us: Option<u32>,
    /// True if packets beyond the horizon are dropped rather than sent earlier.
    pub horizon_drop: Option<bool>,
}

impl Fq {
    pub(super) fn encode(&self, m: &mut Message) {
        let rate = |bps: u64| rate32(bytes_per_second(bps));
        m.nest(TCA_OPTIONS, |m| {
            m.opt_u32(TCA_FQ_BUCKETS_LOG, self.buckets_log);
            m.opt_u32(TCA_FQ_PLIMIT, self.limit_packets);
            m.opt_u32(TCA_FQ_FLOW_PLIMIT, self.flow_limit_packets);
            m.opt_u32(TCA_FQ_QUANTUM, self.quantum_bytes);
            m.opt_u32(TCA_FQ_INITIAL_QUANTUM, self.initial_quantum_bytes);
            m.opt_bool32(TCA_FQ_RATE_ENABLE, self.pacing);
            m.opt_u32(TCA_FQ_FLOW_MAX_RATE, self.max_rate_bps.map(rate));
            m.opt_u32(
                TCA_FQ_LOW_RATE_THRESHOLD,
                self.low_rate_threshold_bps.map(rate),
            );
            m.opt_u32(TCA_FQ_FLOW_REFILL_DELAY, self.refill_delay_us);
            m.opt_u32(TCA_FQ_ORPHAN_MASK, self.orphan_mask);
            m.opt_u32(TCA_FQ_CE_THRESHOLD, self.ce_threshold_us);
            m.opt_u32(TCA_FQ_TIMER_SLACK, self.timer_slack_ns);
            m.opt_u32(TCA_FQ_HORIZON, self.horizon_us);
            m.opt_u8(TCA_FQ_HORIZON_DROP, self.horizon_drop.map(u8::from));
        });
    }
}

/// Options of fq_codel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FqCodel {
    /// Packets in all flows together.
    pub limit_packets: Option<u32>,
    /// Number of flows; cannot be changed later.
    pub flows: Option<u32>,
    /// Acceptable standing delay, us.
    pub target_us: Option<u32>,
    /// Time in which the delay must come below the target once, us.
    pub interval_us: Option<u32>,
    /// Bytes a flow may send in a round.
    pub quantum_bytes: Option<u32>,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: Option<bool>,
    /// Delay above which ECN-capable packets are marked at once, us.
    pub ce_threshold_us: Option<u32>,
    /// Bytes of memory in all flows together.
    pub memory_limit_bytes: Option<u32>,
    /// Packets dropped from the longest flow at overflow.
    pub drop_batch: Option<u32>,
}

impl FqCodel {
    pub(super) fn encode(&self, m: &mut Message) {
        m.nest(TCA_OPTIONS, |m| {
            m.opt_u32(TCA_FQ_CODEL_LIMIT, self.limit_packets);
            m.opt_u32(TCA_FQ_CODEL_FLOWS, self.flows);
            m.opt_u32(TCA_FQ_CODEL_QUANTUM, self.quantum_bytes);
            m.opt_u32(TCA_FQ_CODEL_INTERVAL, self.interval_us);
            m.opt_u32(TCA_FQ_CODEL_TARGET, self.target_us);
            m.opt_bool32(TCA_FQ_CODEL_ECN, self.ecn);
            m.opt_u32(TCA_FQ_CODEL_CE_THRESHOLD, self.ce_threshold_us);
            m.opt_u32(TCA_FQ_CODEL_MEMORY_LIMIT, self.memory_limit_bytes);
            m.opt_u32(TCA_FQ_CODEL_DROP_BATCH_SIZE, self.drop_batch);
        });
    }
}
