//! Traffic control: queue disciplines, classes, filters with actions, and their counters.
//!
//! Rates are given in bits per second (`_bps`) and sent in bytes per second, rounded down; lengths
//! are in bytes, times in microseconds or nanoseconds as named. An absent option keeps the kernel's
//! default. Attribute numbers are from include/uapi/linux/pkt_sched.h, pkt_cls.h and rtnetlink.h,
//! Linux 7.2.

mod aqm;
mod cake;
mod describe;
mod extra;
mod fair;
mod filter;
mod handle;
mod message;
mod netem;
mod path;
mod qdisc;
mod reader;
mod select;
mod shaper;
pub(crate) mod stats;
mod ticks;
pub mod tree;

use crate::netlink::{Message, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, Netlink, NetlinkError};

use message::{RTM_NEWQDISC, RTM_NEWTCLASS, TCA_KIND, tcmsg};

pub use aqm::{Codel, DualPi2, DualPi2Step, FqPie, Pie, Red};
pub use cake::{Cake, CakeAckFilter, CakeDiffserv, CakeFlowMode};
pub use describe::{Described, describe};
pub use extra::QdiscExtra;
pub use fair::{Fq, FqCodel};
pub use filter::{Action, ActionStats, Hook, action_drops, add_matchall, delete_filters};
pub use handle::Handle;
pub use netem::{DISTRIBUTION_MAX, DISTRIBUTION_SCALE, Gemodel, Loss, Netem, Reorder};
pub use path::{Bucket, Path, PathDelay, PathLimit, PathPolicer};
pub use qdisc::Qdisc;
pub use reader::{StatsReader, stats_request};
pub use select::add_udp_port;
pub use shaper::{Htb, HtbClass, Tbf, TbfPeak};
pub use stats::{Kind, QdiscStats, stats};

const RTM_DELQDISC: u16 = 37;

/// Adds a queue discipline below `parent` ([`Handle::ROOT`], [`Handle::CLSACT`] or a class).
///
/// # Errors
/// A discipline exists already (other than the default), the kernel lacks the kind, or rejects an
/// option.
pub fn add(
    nl: &mut Netlink,
    ifindex: u32,
    parent: Handle,
    handle: Handle,
    qdisc: &Qdisc,
) -> Result<(), NetlinkError> {
    let operation = ("add", NLM_F_CREATE | NLM_F_EXCL);
    request(nl, operation, ifindex, parent, handle, qdisc)
}

/// Sets the queue discipline below `parent`, replacing an existing one. A discipline of the same
/// kind and handle is changed in place and preserves its queue and counters.
///
/// # Errors
/// The kernel lacks the kind, or rejects an option.
pub fn replace(
    nl: &mut Netlink,
    ifindex: u32,
    parent: Handle,
    handle: Handle,
    qdisc: &Qdisc,
) -> Result<(), NetlinkError> {
    let operation = ("set", NLM_F_CREATE | NLM_F_REPLACE);
    request(nl, operation, ifindex, parent, handle, qdisc)
}

/// Changes the options of an existing queue discipline, preserving its queue and counters. Options
/// that cannot be changed in place, such as the number of flows, are rejected.
///
/// # Errors
/// There is no discipline with this handle and kind, or the kernel rejects an option.
pub fn change(
    nl: &mut Netlink,
    ifindex: u32,
    parent: Handle,
    handle: Handle,
    qdisc: &Qdisc,
) -> Result<(), NetlinkError> {
    request(nl, ("change", 0), ifindex, parent, handle, qdisc)
}

/// Sends a request about a queue discipline: the verb for error messages, and the flags.
fn request(
    nl: &mut Netlink,
    (verb, flags): (&str, u16),
    ifindex: u32,
    parent: Handle,
    handle: Handle,
    qdisc: &Qdisc,
) -> Result<(), NetlinkError> {
    let mut m = qdisc_message(flags, ifindex, parent, handle, qdisc);
    let kind = qdisc.kind();
    nl.request(
        &mut m,
        format_args!("{verb} qdisc {kind} {handle} below {parent} of link {ifindex}"),
    )
}

/// Removes the queue discipline below `parent`, which restores the kernel's default.
///
/// # Errors
/// Only the default exists.
pub fn delete(nl: &mut Netlink, ifindex: u32, parent: Handle) -> Result<(), NetlinkError> {
    let mut m = Message::new(RTM_DELQDISC, 0);
    m.raw(&tcmsg(ifindex, Handle::NONE, parent, 0));
    nl.request(
        &mut m,
        format_args!("delete the qdisc below {parent} of link {ifindex}"),
    )
}

/// Adds a class to an htb queue discipline: `class` is its handle, `parent` that of the qdisc or
/// another class.
///
/// # Errors
/// There is no htb of that major number, the class exists, or a rate is 0.
pub fn add_htb_class(
    nl: &mut Netlink,
    ifindex: u32,
    parent: Handle,
    class: Handle,
    options: &HtbClass,
) -> Result<(), NetlinkError> {
    let mut m = htb_class_message(ifindex, parent, class, options);
    nl.request(
        &mut m,
        format_args!("add htb class {class} below {parent} of link {ifindex}"),
    )
}

fn htb_class_message(ifindex: u32, parent: Handle, class: Handle, options: &HtbClass) -> Message {
    let mut m = Message::new(RTM_NEWTCLASS, NLM_F_CREATE | NLM_F_EXCL);
    m.raw(&tcmsg(ifindex, class, parent, 0))
        .str(TCA_KIND, "htb");
    options.encode(&mut m);
    m
}

fn qdisc_message(
    flags: u16,
    ifindex: u32,
    parent: Handle,
    handle: Handle,
    qdisc: &Qdisc,
) -> Message {
    let mut m = Message::new(RTM_NEWQDISC, flags);
    m.raw(&tcmsg(ifindex, handle, parent, 0))
        .str(TCA_KIND, qdisc.kind());
    qdisc.encode(&mut m);
    m
}

#[cfg(test)]
mod tests;
