//! Matchall filters on the ingress and egress hooks of clsact, with their actions
//! (net/sched/cls_matchall.c, act_police.c, act_gact.c, Linux 7.2).

use crate::bytes;
use crate::netlink::{Attr, Attrs, Message, NLM_F_CREATE, NLM_F_EXCL, Netlink, NetlinkError};

use super::handle::Handle;
use super::message::{RTM_GETTFILTER, RTM_NEWTFILTER, TCA_KIND, TCA_OPTIONS, TCMSG_LEN, tcmsg};
use super::stats::{Basic, Kind, Queue, basic, queue};
use super::ticks::{
    DEFAULT_TABLE_MTU, Rate, bytes_per_second, needs_rate64, transmit_ticks, words,
};

const RTM_DELTFILTER: u16 = 45;

const TCA_MATCHALL_ACT: u16 = 2;
const TCA_ACT_KIND: u16 = 1;
const TCA_ACT_OPTIONS: u16 = 2;
const TCA_ACT_STATS: u16 = 4;
const TCA_POLICE_TBF: u16 = 1;
const TCA_POLICE_RATE: u16 = 2;
const TCA_POLICE_RESULT: u16 = 5;
const TCA_POLICE_RATE64: u16 = 8;
const TCA_GACT_PARMS: u16 = 2;
const TCA_GACT_PROB: u16 = 3;
const PGACT_DETERM: u16 = 2;

const TCA_MIRRED_PARMS: u16 = 2;
const TCA_EGRESS_REDIR: u32 = 1;

const TC_ACT_STOLEN: u32 = 4;
const TC_ACT_OK: u32 = 0;
const TC_ACT_SHOT: u32 = 2;
const TC_ACT_PIPE: u32 = 3;
/// `ETH_P_ALL` in network byte order, as the lower half of `tcm_info` holds it.
const PROTOCOL_ALL: u32 = (3u16.to_be()) as u32;

/// Hook of a filter on a link with a clsact queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Received packets.
    Ingress,
    /// Packets to transmit, before the queue.
    Egress,
}

impl Hook {
    fn parent(self) -> Handle {
        match self {
            Hook::Ingress => Handle::INGRESS,
            Hook::Egress => Handle::EGRESS,
        }
    }
}

/// Action of a filter; packets that pass this action continue with the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Drops packets that exceed a token bucket, without queueing.
    Police {
        /// Rate, bits a second, link headers included.
        rate_bps: u64,
        /// Bucket, bytes.
        burst_bytes: u32,
        /// Longest packet that may pass, bytes; absent = 2040. Of an offload's packet the segments
        /// count.
        mtu_bytes: Option<u32>,
    },
    /// Drops exactly every n-th packet: the n-th, the 2n-th and so on; an offload's packet counts
    /// as one.
    DropEvery(u16),
    /// Sends every packet through the queue of another link, of this index; the last action.
    Redirect(u32),
}

/// Counters of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionStats {
    /// Kind, `police` or `gact`.
    pub kind: Kind,
    /// Bytes seen.
    pub bytes: u64,
    /// Packets seen.
    pub packets: u64,
    /// Packets dropped.
    pub drops: u32,
    /// Packets beyond the rate.
    pub overlimits: u32,
}

/// Adds a filter that matches every packet. Filters of a hook run in order of `priority` (1 to
/// 65535) until one returns a verdict; these always do, so a hook needs only one filter with
/// several actions.
///
/// # Errors
/// The link has no clsact, the priority is taken, or the kernel lacks matchall or an action.
pub fn add_matchall(
    nl: &mut Netlink,
    ifindex: u32,
    hook: Hook,
    priority: u16,
    actions: &[Action],
) -> Result<(), NetlinkError> {
    let mut m = matchall_message(ifindex, hook, priority, actions);
    let op = format_args!("add filter matchall {priority} to the {hook:?} hook of link {ifindex}");
    nl.request(&mut m, op)
}

/// Removes the filters of a priority from a hook.
///
/// # Errors
/// There are no such filters.
pub fn delete_filters(
    nl: &mut Netlink,
    ifindex: u32,
    hook: Hook,
    priority: u16,
) -> Result<(), NetlinkError> {
    let mut m = Message::new(RTM_DELTFILTER, 0);
    m.raw(&tcmsg(ifindex, Handle::NONE, hook.parent(), info(priority)));
    let op = format_args!("delete filter {priority} of the {hook:?} hook of link {ifindex}");
    nl.request(&mut m, op)
}

/// Counters of the actions of all matchall filters of a hook, in the order in which they run.
///
/// # Errors
/// No such link; without clsact the list is empty.
pub fn action_drops(
    nl: &mut Netlink,
    ifindex: u32,
    hook: Hook,
) -> Result<Vec<ActionStats>, NetlinkError> {
    let mut m = Message::new(RTM_GETTFILTER, 0);
    m.raw(&tcmsg(ifindex, Handle::NONE, hook.parent(), 0));
    let op = format_args!("list the filters of the {hook:?} hook of link {ifindex}");
    let filters = nl.dump(&mut m, op, |payload| Some(filter_actions(payload)))?;
    Ok(filters.into_iter().flatten().collect())
}

pub(super) fn matchall_message(
    ifindex: u32,
    hook: Hook,
    priority: u16,
    actions: &[Action],
) -> Message {
    let mut m = Message::new(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL);
    m.raw(&tcmsg(ifindex, Handle::NONE, hook.parent(), info(priority)))
        .str(TCA_KIND, "matchall");
    m.nest(TCA_OPTIONS, |m| {
        m.nest(TCA_MATCHALL_ACT, |m| {
            for (order, action) in (1u16..).zip(actions) {
                let last = usize::from(order) == actions.len();
                let pass = if last { TC_ACT_OK } else { TC_ACT_PIPE };
                m.nest(order, |m| action.encode(m, pass));
            }
        });
    });
    m
}

pub(super) fn info(priority: u16) -> u32 {
    u32::from(priority) << 16 | PROTOCOL_ALL
}

impl Action {
    fn encode(&self, m: &mut Message, pass: u32) {
        match *self {
            Action::Police {
                rate_bps,
                burst_bytes,
                mtu_bytes,
            } => {
                m.str(TCA_ACT_KIND, "police");
                let mtu = mtu_bytes.unwrap_or(0);
                m.nest_flagged(TCA_ACT_OPTIONS, |m| {
                    police(m, rate_bps, burst_bytes, mtu, pass)
                });
            }
            Action::Redirect(link) => {
                m.str(TCA_ACT_KIND, "mirred");
                // `struct tc_mirred`: index, capab, action, refcnt, bindcnt, eaction, ifindex
                // (include/uapi/linux/tc_act/tc_mirred.h, Linux 7.2).
                let parms = words(&[0, 0, TC_ACT_STOLEN, 0, 0, TCA_EGRESS_REDIR, link]);
                m.nest_flagged(TCA_ACT_OPTIONS, |m| {
                    m.attr(TCA_MIRRED_PARMS, &parms);
                });
            }
            Action::DropEvery(n) => {
                m.str(TCA_ACT_KIND, "gact");
                m.nest_flagged(TCA_ACT_OPTIONS, |m| drop_every(m, n, pass));
            }
        }
    }
}

/// `struct tc_police`: index, action when exceeded, limit, burst in ticks, mtu, rate, peak rate,
/// refcnt, bindcnt, capab; then the rate table and the action for packets within the rate, which is
/// `TC_ACT_OK` if not given.
fn police(m: &mut Message, rate_bps: u64, burst_bytes: u32, mtu: u32, pass: u32) {
    let bytes_per_s = bytes_per_second(rate_bps);
    let rate = Rate::new(bytes_per_s, if mtu == 0 { DEFAULT_TABLE_MTU } else { mtu });
    let burst = transmit_ticks(bytes_per_s, u64::from(burst_bytes));
    let head = words(&[0, TC_ACT_SHOT, 0, burst, mtu]);
    let tail = words(&[0, 0, 0]);
    m.attr(
        TCA_POLICE_TBF,
        &[&head[..], &rate.spec, &Rate::NONE, &tail].concat(),
    );
    m.attr(TCA_POLICE_RATE, &rate.table);
    if needs_rate64(bytes_per_s) {
        m.u64(TCA_POLICE_RATE64, bytes_per_s);
    }
    if pass != TC_ACT_OK {
        m.u32(TCA_POLICE_RESULT, pass);
    }
}

/// `struct tc_gact`: index, capab, action, refcnt, bindcnt; `struct tc_gact_p`: type, n, action for
/// the n-th.
fn drop_every(m: &mut Message, n: u16, pass: u32) {
    m.attr(TCA_GACT_PARMS, &words(&[0, 0, pass, 0, 0]));
    let mut prob = Vec::with_capacity(8);
    prob.extend(PGACT_DETERM.to_ne_bytes());
    prob.extend(n.to_ne_bytes());
    prob.extend(TC_ACT_SHOT.to_ne_bytes());
    m.attr(TCA_GACT_PROB, &prob);
}

fn filter_actions(payload: &[u8]) -> Vec<ActionStats> {
    let attrs = Attrs::after(payload, TCMSG_LEN);
    let is_matchall = attrs.get(TCA_KIND).and_then(|k| k.str()) == Some("matchall");
    let list = attrs
        .get(TCA_OPTIONS)
        .and_then(|o| o.nested().get(TCA_MATCHALL_ACT));
    match list {
        Some(list) if is_matchall && bytes::u32_at(payload, 8) != Some(0) => {
            list.nested().map(action_stats).collect()
        }
        _ => Vec::new(),
    }
}

fn action_stats(action: Attr<'_>) -> ActionStats {
    let attrs = action.nested();
    let kind = attrs
        .get(TCA_ACT_KIND)
        .map_or_else(Kind::default, |k| Kind::new(k.payload));
    let counters = attrs
        .get(TCA_ACT_STATS)
        .map_or(Attrs::new(&[]), |s| s.nested());
    let Basic { bytes, packets } = basic(counters);
    let Queue {
        drops, overlimits, ..
    } = queue(counters);
    ActionStats {
        kind,
        bytes,
        packets,
        drops,
        overlimits,
    }
}
