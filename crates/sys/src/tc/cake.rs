//! Common applications kept enhanced (net/sched/sch_cake.c, Linux 7.2).

use crate::netlink::Message;

use super::message::TCA_OPTIONS;
use super::ticks::bytes_per_second;

const TCA_CAKE_BASE_RATE64: u16 = 2;
const TCA_CAKE_DIFFSERV_MODE: u16 = 3;
const TCA_CAKE_FLOW_MODE: u16 = 5;
const TCA_CAKE_OVERHEAD: u16 = 6;
const TCA_CAKE_RTT: u16 = 7;
const TCA_CAKE_TARGET: u16 = 8;
const TCA_CAKE_AUTORATE: u16 = 9;
const TCA_CAKE_MEMORY: u16 = 10;
const TCA_CAKE_NAT: u16 = 11;
const TCA_CAKE_WASH: u16 = 13;
const TCA_CAKE_MPU: u16 = 14;
const TCA_CAKE_INGRESS: u16 = 15;
const TCA_CAKE_ACK_FILTER: u16 = 16;
const TCA_CAKE_SPLIT_GSO: u16 = 17;

/// Options of cake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cake {
    /// Rate, bits a second; 0 or absent = unlimited.
    pub rate_bps: Option<u64>,
    /// Round-trip time it is tuned for, us.
    pub rtt_us: Option<u32>,
    /// Acceptable standing delay, us; absent = a twentieth of `rtt_us`.
    pub target_us: Option<u32>,
    /// Priority tins.
    pub diffserv: Option<CakeDiffserv>,
    /// Definition of a flow, and of the hosts that share the rate.
    pub flow_mode: Option<CakeFlowMode>,
    /// Splits segments of offloads.
    pub split_gso: Option<bool>,
    /// Bytes the line adds to a packet; may be negative.
    pub overhead_bytes: Option<i32>,
    /// Shortest packet of the line, bytes.
    pub mpu_bytes: Option<u32>,
    /// Bytes of memory.
    pub memory_bytes: Option<u32>,
    /// Drops acknowledgements that later ones make superfluous.
    pub ack_filter: Option<CakeAckFilter>,
    /// Looks up addresses behind the host's own NAT.
    pub nat: Option<bool>,
    /// Clears the priority field of packets.
    pub wash: Option<bool>,
    /// Counts dropped packets as sent: for shaping traffic that has passed the bottleneck already.
    pub ingress: Option<bool>,
}

/// Priority tins of cake (`CAKE_DIFFSERV_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeDiffserv {
    /// Three tins, the kernel's default.
    Diffserv3 = 0,
    /// Four tins.
    Diffserv4 = 1,
    /// Eight tins.
    Diffserv8 = 2,
    /// A single tin.
    BestEffort = 3,
    /// Eight tins by the old precedence.
    Precedence = 4,
}

/// Isolation of flows and hosts in cake (`CAKE_FLOW_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeFlowMode {
    /// A single queue.
    None = 0,
    /// By source host.
    SrcHost = 1,
    /// By destination host.
    DstHost = 2,
    /// By pair of hosts.
    Hosts = 3,
    /// By flow.
    Flows = 4,
    /// By flow, and fair among source hosts.
    DualSrcHost = 5,
    /// By flow, and fair among destination hosts.
    DualDstHost = 6,
    /// By flow, and fair among hosts on both sides; the kernel's default.
    Triple = 7,
}

/// Filter of acknowledgements in cake (`CAKE_ACK_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CakeAckFilter {
    /// Off, the kernel's default.
    Off = 0,
    /// Keeps as many ACKs as the sender needs.
    Filter = 1,
    /// Keeps as few ACKs as possible.
    Aggressive = 2,
}

impl Cake {
    /// The kernel does not derive the target from the round-trip time; iproute2 (tc/q_cake.c) sends
    /// a twentieth of it.
    pub(super) fn encode(&self, m: &mut Message) {
        m.nest(TCA_OPTIONS, |m| {
            if let Some(rate) = self.rate_bps {
                m.u64(TCA_CAKE_BASE_RATE64, bytes_per_second(rate));
            }
            m.opt_u32(TCA_CAKE_DIFFSERV_MODE, self.diffserv.map(|d| d as u32));
            m.opt_u32(TCA_CAKE_FLOW_MODE, self.flow_mode.map(|f| f as u32));
            m.opt_u32(
                TCA_CAKE_OVERHEAD,
                self.overhead_bytes.map(i32::cast_unsigned),
            );
            m.opt_u32(TCA_CAKE_MPU, self.mpu_bytes);
            m.opt_u32(TCA_CAKE_RTT, self.rtt_us);
            m.opt_u32(
                TCA_CAKE_TARGET,
                self.target_us.or(self.rtt_us.map(|rtt| (rtt / 20).max(1))),
            );
            m.u32(TCA_CAKE_AUTORATE, 0);
            m.opt_u32(TCA_CAKE_MEMORY, self.memory_bytes);
            m.opt_bool32(TCA_CAKE_NAT, self.nat);
            m.opt_bool32(TCA_CAKE_WASH, self.wash);
            m.opt_bool32(TCA_CAKE_SPLIT_GSO, self.split_gso);
            m.opt_bool32(TCA_CAKE_INGRESS, self.ingress);
            m.opt_u32(TCA_CAKE_ACK_FILTER, self.ack_filter.map(|a| a as u32));
        });
    }
}
