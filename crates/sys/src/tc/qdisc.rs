//! Queue disciplines of all kinds.

use crate::netlink::Message;

use super::{
    aqm::{Codel, DualPi2, FqPie, Pie, Red},
    cake::Cake,
    fair::{Fq, FqCodel},
    message::TCA_OPTIONS,
    netem::Netem,
    path::Path,
    shaper::{Htb, Tbf},
};

/// A queue discipline with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum Qdisc {
    /// First in, first out, limited in packets; absent = the link's transmit queue length.
    Pfifo {
        /// Packets.
        limit: Option<u32>,
    },
    /// First in, first out, limited in bytes; absent = the link's transmit queue length times its
    /// MTU.
    Bfifo {
        /// Bytes, link headers included.
        limit: Option<u32>,
    },
    /// Three bands by priority, the kernel's old default.
    PfifoFast,
    /// No queue: for virtual links.
    Noqueue,
    /// Delay, loss, reordering, rate.
    Netem(Netem),
    /// Rate, queue, loss and delay of one direction of a path; only the lab's kernel has it.
    Path(Path),
    /// Token bucket filter: a rate with a burst, before a queue.
    Tbf(Tbf),
    /// Hierarchical token bucket; needs classes.
    Htb(Htb),
    /// Fair queue with pacing.
    Fq(Fq),
    /// Fair queue with controlled delay.
    FqCodel(FqCodel),
    /// Controlled delay, one queue.
    Codel(Codel),
    /// Proportional integral controller enhanced, one queue.
    Pie(Pie),
    /// Proportional integral controller enhanced, fair queue.
    FqPie(FqPie),
    /// Common applications kept enhanced.
    Cake(Cake),
    /// Dual queue coupled AQM (RFC 9332).
    DualPi2(DualPi2),
    /// Random early detection.
    Red(Red),
    /// Container of ingress and egress filters; its parent is [`super::Handle::CLSACT`].
    Clsact,
}

impl Qdisc {
    /// The kernel's name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Qdisc::Pfifo { .. } => "pfifo",
            Qdisc::Bfifo { .. } => "bfifo",
            Qdisc::PfifoFast => "pfifo_fast",
            Qdisc::Noqueue => "noqueue",
            Qdisc::Netem(_) => "netem",
            Qdisc::Path(_) => "path",
            Qdisc::Tbf(_) => "tbf",
            Qdisc::Htb(_) => "htb",
            Qdisc::Fq(_) => "fq",
            Qdisc::FqCodel(_) => "fq_codel",
            Qdisc::Codel(_) => "codel",
            Qdisc::Pie(_) => "pie",
            Qdisc::FqPie(_) => "fq_pie",
            Qdisc::Cake(_) => "cake",
            Qdisc::DualPi2(_) => "dualpi2",
            Qdisc::Red(_) => "red",
            Qdisc::Clsact => "clsact",
        }
    }

    /// Appends `TCA_OPTIONS`.
    pub(super) fn encode(&self, m: &mut Message) {
        match self {
            Qdisc::Pfifo { limit } | Qdisc::Bfifo { limit } => {
                // struct tc_fifo_qopt
                m.opt_u32(TCA_OPTIONS, *limit);
            }
            Qdisc::PfifoFast | Qdisc::Noqueue | Qdisc::Clsact => {}
            Qdisc::Netem(q) => q.encode(m),
            Qdisc::Path(q) => q.encode(m),
            Qdisc::Tbf(q) => q.encode(m),
            Qdisc::Htb(q) => q.encode(m),
            Qdisc::Fq(q) => q.encode(m),
            Qdisc::FqCodel(q) => q.encode(m),
            Qdisc::Codel(q) => q.encode(m),
            Qdisc::Pie(q) => q.encode(m),
            Qdisc::FqPie(q) => q.encode(m),
            Qdisc::Cake(q) => q.encode(m),
            Qdisc::DualPi2(q) => q.encode(m),
            Qdisc::Red(q) => q.encode(m),
        }
    }
}
