//! Active queue management: codel, pie, fq_pie, dualpi2, red (net/sched/sch_*.c, Linux 7.2).

mod dualpi2;
mod red;

use crate::netlink::Message;

use super::message::TCA_OPTIONS;

pub use dualpi2::{DualPi2, DualPi2Step};
pub use red::Red;

const TCA_CODEL_TARGET: u16 = 1;
const TCA_CODEL_LIMIT: u16 = 2;
const TCA_CODEL_INTERVAL: u16 = 3;
const TCA_CODEL_ECN: u16 = 4;
const TCA_CODEL_CE_THRESHOLD: u16 = 5;

const TCA_PIE_TARGET: u16 = 1;
const TCA_PIE_LIMIT: u16 = 2;
const TCA_PIE_TUPDATE: u16 = 3;
const TCA_PIE_ALPHA: u16 = 4;
const TCA_PIE_BETA: u16 = 5;
const TCA_PIE_ECN: u16 = 6;
const TCA_PIE_BYTEMODE: u16 = 7;

const TCA_FQ_PIE_LIMIT: u16 = 1;
const TCA_FQ_PIE_FLOWS: u16 = 2;
const TCA_FQ_PIE_TARGET: u16 = 3;
const TCA_FQ_PIE_TUPDATE: u16 = 4;
const TCA_FQ_PIE_ALPHA: u16 = 5;
const TCA_FQ_PIE_BETA: u16 = 6;
const TCA_FQ_PIE_QUANTUM: u16 = 7;
const TCA_FQ_PIE_MEMORY_LIMIT: u16 = 8;
const TCA_FQ_PIE_ECN: u16 = 10;
const TCA_FQ_PIE_BYTEMODE: u16 = 11;

/// Options of codel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Codel {
    /// Packets.
    pub limit_packets: Option<u32>,
    /// Acceptable standing delay, us.
    pub target_us: Option<u32>,
    /// Time in which the delay must come below the target once, us.
    pub interval_us: Option<u32>,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: Option<bool>,
    /// Delay above which ECN-capable packets are marked at once, us.
    pub ce_threshold_us: Option<u32>,
}

impl Codel {
    pub(super) fn encode(&self, m: &mut Message) {
        m.nest(TCA_OPTIONS, |m| {
            m.opt_u32(TCA_CODEL_LIMIT, self.limit_packets);
            m.opt_u32(TCA_CODEL_INTERVAL, self.interval_us);
            m.opt_u32(TCA_CODEL_TARGET, self.target_us);
            m.opt_bool32(TCA_CODEL_ECN, self.ecn);
            m.opt_u32(TCA_CODEL_CE_THRESHOLD, self.ce_threshold_us);
        });
    }
}

/// Options of pie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pie {
    /// Packets.
    pub limit_packets: Option<u32>,
    /// Delay aimed at, us.
    pub target_us: Option<u32>,
    /// Update interval of the probability, us; the kernel rounds to jiffies.
    pub tupdate_us: Option<u32>,
    /// Weight of the delay's distance from the target, 0 to 32, in sixteenths of Hz.
    pub alpha: Option<u32>,
    /// Weight of the delay's change, 0 to 32, in sixteenths of Hz.
    pub beta: Option<u32>,
    /// Marks ECN-capable packets instead of dropping them while the probability is below 10 %.
    pub ecn: Option<bool>,
    /// Scales the probability by the packet's length.
    pub bytemode: Option<bool>,
}

impl Pie {
    pub(super) fn encode(&self, m: &mut Message) {
        m.nest(TCA_OPTIONS, |m| {
            m.opt_u32(TCA_PIE_LIMIT, self.limit_packets);
            m.opt_u32(TCA_PIE_TUPDATE, self.tupdate_us);
            m.opt_u32(TCA_PIE_TARGET, self.target_us);
            m.opt_u32(TCA_PIE_ALPHA, self.alpha);
            m.opt_u32(TCA_PIE_BETA, self.beta);
            m.opt_bool32(TCA_PIE_ECN, self.ecn);
            m.opt_bool32(TCA_PIE_BYTEMODE, self.bytemode);
        });
    }
}

/// Options of fq_pie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FqPie {
    /// Parameters of pie.
    pub pie: Pie,
    /// Number of flows.
    pub flows: Option<u32>,
    /// Bytes a flow may send in a round.
    pub quantum_bytes: Option<u32>,
    /// Bytes of memory in all flows together.
    pub memory_limit_bytes: Option<u32>,
}

impl FqPie {
    /// The kernel checks this nest strictly (`NLA_F_NESTED`).
    pub(super) fn encode(&self, m: &mut Message) {
        m.nest_flagged(TCA_OPTIONS, |m| {
            m.opt_u32(TCA_FQ_PIE_LIMIT, self.pie.limit_packets);
            m.opt_u32(TCA_FQ_PIE_FLOWS, self.flows);
            m.opt_u32(TCA_FQ_PIE_TARGET, self.pie.target_us);
            m.opt_u32(TCA_FQ_PIE_TUPDATE, self.pie.tupdate_us);
            m.opt_u32(TCA_FQ_PIE_ALPHA, self.pie.alpha);
            m.opt_u32(TCA_FQ_PIE_BETA, self.pie.beta);
            m.opt_u32(TCA_FQ_PIE_QUANTUM, self.quantum_bytes);
            m.opt_u32(TCA_FQ_PIE_MEMORY_LIMIT, self.memory_limit_bytes);
            m.opt_bool32(TCA_FQ_PIE_ECN, self.pie.ecn);
            m.opt_bool32(TCA_FQ_PIE_BYTEMODE, self.pie.bytemode);
        });
    }
}
