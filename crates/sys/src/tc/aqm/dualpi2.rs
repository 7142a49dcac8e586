//! Dual queue coupled AQM with a proportional integral squared controller (net/sched/sch_dualpi2.c,
//! Linux 7.2).

use crate::netlink::Message;

use super::super::message::TCA_OPTIONS;

const TCA_DUALPI2_LIMIT: u16 = 1;
const TCA_DUALPI2_MEMORY_LIMIT: u16 = 2;
const TCA_DUALPI2_TARGET: u16 = 3;
const TCA_DUALPI2_TUPDATE: u16 = 4;
const TCA_DUALPI2_ALPHA: u16 = 5;
const TCA_DUALPI2_BETA: u16 = 6;
const TCA_DUALPI2_STEP_THRESH_PKTS: u16 = 7;
const TCA_DUALPI2_STEP_THRESH_US: u16 = 8;
const TCA_DUALPI2_MIN_QLEN_STEP: u16 = 9;
const TCA_DUALPI2_COUPLING: u16 = 10;
const TCA_DUALPI2_DROP_OVERLOAD: u16 = 11;
const TCA_DUALPI2_DROP_EARLY: u16 = 12;
const TCA_DUALPI2_C_PROTECTION: u16 = 13;
const TCA_DUALPI2_ECN_MASK: u16 = 14;
const TCA_DUALPI2_SPLIT_GSO: u16 = 15;

/// Options of dualpi2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DualPi2 {
    /// Packets in both queues. Setting it also sets the memory limit, unless that is given.
    pub limit_packets: Option<u32>,
    /// Bytes of memory in both queues.
    pub memory_limit_bytes: Option<u32>,
    /// Delay aimed at in the classic queue, us.
    pub target_us: Option<u32>,
    /// Update interval of the probability, us.
    pub tupdate_us: Option<u32>,
    /// Weight of the delay's distance from the target, in Hz times 256.
    pub alpha: Option<u32>,
    /// Weight of the delay's change, in Hz times 256.
    pub beta: Option<u32>,
    /// Queue threshold above which the low-latency queue marks every packet.
    pub step: Option<DualPi2Step>,
    /// Packets the low-latency queue must hold before the step marks.
    pub min_qlen_step: Option<u32>,
    /// Coupling factor from the classic queue's probability to that of the low-latency queue, at
    /// least 1.
    pub coupling: Option<u8>,
    /// At overload: drop (true) or let the queue overflow.
    pub drop_overload: Option<bool>,
    /// Drop when a packet enters (true) or when it leaves.
    pub drop_early: Option<bool>,
    /// Share of the rate reserved for the classic queue when both have packets, percent.
    pub c_protection_percent: Option<u8>,
    /// ECN codepoints that select the low-latency queue: 1 = ECT(1), 2 = ECT(0), 3 = any.
    pub ecn_mask: Option<u8>,
    /// Splits segments of offloads.
    pub split_gso: Option<bool>,
}

/// Threshold of the low-latency queue's step; the kernel accepts one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualPi2Step {
    /// Delay, us.
    Us(u32),
    /// Queue length in packets.
    Packets(u32),
}

impl DualPi2 {
    /// The kernel checks this nest strictly (`NLA_F_NESTED`). One without attributes is valid for a
    /// new queue discipline and refused for a change.
    pub(in crate::tc) fn encode(&self, m: &mut Message) {
        m.nest_flagged(TCA_OPTIONS, |m| {
            m.opt_u32(TCA_DUALPI2_LIMIT, self.limit_packets);
            m.opt_u32(TCA_DUALPI2_MEMORY_LIMIT, self.memory_limit_bytes);
            m.opt_u32(TCA_DUALPI2_TARGET, self.target_us);
            m.opt_u32(TCA_DUALPI2_TUPDATE, self.tupdate_us);
            m.opt_u32(TCA_DUALPI2_ALPHA, self.alpha);
            m.opt_u32(TCA_DUALPI2_BETA, self.beta);
            match self.step {
                Some(DualPi2Step::Us(us)) => m.u32(TCA_DUALPI2_STEP_THRESH_US, us),
                Some(DualPi2Step::Packets(packets)) => m.u32(TCA_DUALPI2_STEP_THRESH_PKTS, packets),
                None => m,
            };
            m.opt_u32(TCA_DUALPI2_MIN_QLEN_STEP, self.min_qlen_step);
            m.opt_u8(TCA_DUALPI2_COUPLING, self.coupling);
            m.opt_u8(TCA_DUALPI2_DROP_OVERLOAD, self.drop_overload.map(u8::from));
            m.opt_u8(TCA_DUALPI2_DROP_EARLY, self.drop_early.map(u8::from));
            m.opt_u8(TCA_DUALPI2_C_PROTECTION, self.c_protection_percent);
            m.opt_u8(TCA_DUALPI2_ECN_MASK, self.ecn_mask);
            m.opt_u8(TCA_DUALPI2_SPLIT_GSO, self.split_gso.map(u8::from));
        });
    }
}
