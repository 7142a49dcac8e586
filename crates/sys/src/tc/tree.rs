//! The queue disciplines of a link as the kernel's bytes, so that they can be restored with all
//! their options.
//!
//! A discipline created by the kernel has the handle 0: it returns when its replacement is deleted,
//! and cannot be deleted itself (net/sched/sch_generic.c: `attach_default_qdiscs`; sch_api.c:
//! `tc_get_qdisc`, Linux 7.2).

use crate::bytes;
use crate::netlink::{
    Attrs, Message, NLA_F_NESTED, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, Netlink, NetlinkError,
};

use super::delete;
use super::handle::Handle;
use super::message::{
    RTM_GETQDISC, RTM_GETTCLASS, RTM_GETTFILTER, RTM_NEWQDISC, RTM_NEWTCLASS, TCA_KIND,
    TCA_OPTIONS, TCMSG_LEN, tcmsg,
};
use super::stats::Kind;

const TCA_HTB_INIT: u16 = 2;
/// Offset of the counter of packets without a class in `struct tc_htb_glob`, which is not an
/// option.
const HTB_DIRECT_PACKETS: usize = 16;

/// A queue discipline or class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Kind.
    pub kind: String,
    /// Its handle.
    pub handle: Handle,
    /// Its parent.
    pub parent: Handle,
    /// The attribute with its options, header included; empty if it has none.
    pub options: Vec<u8>,
}

/// The queue disciplines of a link for transmitted packets, and their classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Disciplines, parents first; the first is the root.
    pub qdiscs: Vec<Node>,
    /// Classes of htb, parents first. Other kinds with classes are not read.
    pub classes: Vec<Node>,
}

/// Reason why a tree cannot be restored after its removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Irreversible {
    /// It has classes of another kind than htb.
    Classes(String),
    /// It has filters.
    Filters,
}

impl Tree {
    /// The root.
    pub fn root(&self) -> Option<&Node> {
        self.qdiscs.first()
    }

    /// Returns true if it was created by the kernel.
    pub fn is_default(&self) -> bool {
        self.root().is_none_or(|root| root.handle == Handle::NONE)
    }
}

/// Reads the tree of a link.
///
/// # Errors
/// The socket failed.
pub fn read(nl: &mut Netlink, ifindex: u32) -> Result<Tree, NetlinkError> {
    let qdiscs = dump(nl, RTM_GETQDISC, ifindex, "list qdiscs")?;
    let kept = |node: &Node| !matches!(node.kind.as_str(), "ingress" | "clsact");
    let mut qdiscs: Vec<Node> = qdiscs.into_iter().filter(kept).collect();
    // Stable: the kernel lists parents before their children.
    qdiscs.sort_by_key(|node| node.parent != Handle::ROOT);
    let mut classes = Vec::new();
    if qdiscs.iter().any(|q| q.kind == "htb") {
        classes = dump(nl, RTM_GETTCLASS, ifindex, "list classes")?;
        classes.retain(|class| class.kind == "htb");
        let depths: Vec<usize> = classes.iter().map(|c| depth(&classes, c)).collect();
        let mut order: Vec<usize> = (0..classes.len()).collect();
        order.sort_by_key(|&i| (depths[i], classes[i].handle));
        classes = order.into_iter().map(|i| classes[i].clone()).collect();
    }
    Ok(Tree { qdiscs, classes })
}

/// Returns why the tree of a link cannot be restored after its removal, if so.
///
/// # Errors
/// The socket failed.
pub fn irreversible(
    nl: &mut Netlink,
    ifindex: u32,
    tree: &Tree,
) -> Result<Option<Irreversible>, NetlinkError> {
    if tree.is_default() {
        return Ok(None);
    }
    let with_classes = ["hfsc", "drr", "qfq", "ets", "cbq", "hfsc", "atm", "dsmark"];
    if let Some(node) = tree
        .qdiscs
        .iter()
        .find(|q| with_classes.contains(&q.kind.as_str()))
    {
        return Ok(Some(Irreversible::Classes(node.kind.clone())));
    }
    let places = tree.qdiscs.iter().chain(&tree.classes);
    for handle in places.map(|n| n.handle).filter(|&h| h != Handle::NONE) {
        let mut m = Message::new(RTM_GETTFILTER, 0);
        m.raw(&tcmsg(ifindex, Handle::NONE, handle, 0));
        let found = nl.dump(&mut m, "list filters", |payload| {
            (bytes::u32_at(payload, 4)? == ifindex).then_some(())
        })?;
        if !found.is_empty() {
            return Ok(Some(Irreversible::Filters));
        }
    }
    Ok(None)
}

/// Restores a tree that was read from this link before, or leaves it if it is present.
///
/// # Errors
/// The kernel lacks a kind, or refuses the options it reported itself.
pub fn restore(nl: &mut Netlink, ifindex: u32, saved: &Tree) -> Result<(), NetlinkError> {
    let now = read(nl, ifindex)?;
    if now == *saved {
        return Ok(());
    }
    if !now.is_default() {
        delete(nl, ifindex, Handle::ROOT)?;
    }
    let Some(root) = saved.root() else {
        return Ok(());
    };
    if root.handle == Handle::NONE {
        return default_of_kind(nl, ifindex, root);
    }
    let rest = |nodes: &[Node], depth_one: bool| -> Vec<Node> {
        let of_root = |n: &&Node| (n.parent == Handle::ROOT) == depth_one;
        nodes.iter().filter(of_root).cloned().collect()
    };
    for node in rest(&saved.qdiscs, true) {
        create(nl, RTM_NEWQDISC, ifindex, &node)?;
    }
    for class in &saved.classes {
        create(nl, RTM_NEWTCLASS, ifindex, class)?;
    }
    for node in rest(&saved.qdiscs, false) {
        // Disciplines without a handle are created with their parent.
        if node.handle != Handle::NONE {
            create(nl, RTM_NEWQDISC, ifindex, &node)?;
        }
    }
    Ok(())
}

/// The kernel's own discipline returned; if the default has changed since, a discipline of the old
/// kind is set explicitly.
fn default_of_kind(nl: &mut Netlink, ifindex: u32, old: &Node) -> Result<(), NetlinkError> {
    let now = read(nl, ifindex)?;
    let same = now.root().is_some_and(|root| root.kind == old.kind);
    if same || old.kind == "mq" || old.kind == "noqueue" {
        return Ok(());
    }
    create(nl, RTM_NEWQDISC, ifindex, old)
}

fn create(nl: &mut Netlink, kind: u16, ifindex: u32, node: &Node) -> Result<(), NetlinkError> {
    let exclusive = match node.parent {
        Handle::ROOT => NLM_F_EXCL,
        // A child may replace the default child created by its parent.
        _ => NLM_F_REPLACE,
    };
    let flags = match kind {
        RTM_NEWTCLASS => NLM_F_EXCL,
        _ => exclusive,
    };
    let mut m = Message::new(kind, NLM_F_CREATE | flags);
    m.raw(&tcmsg(ifindex, node.handle, node.parent, 0))
        .str(TCA_KIND, &node.kind)
        .raw(&request_of(node));
    let op = format_args!(
        "set up {} {} below {} of link {ifindex} again",
        node.kind, node.handle, node.parent
    );
    nl.request(&mut m, op)
}

/// Options that result in the reported ones when they are set. The kernel stores some numbers in
/// coarser units and rounds them down both on input and in reports, so that a report sent back
/// would shrink each time: codel its times in 1024 ns (include/net/codel.h: `CODEL_SHIFT`,
/// `codel_time_to_us`), pie in 64 ns (include/net/pkt_sched.h: `PSCHED_SHIFT`), Linux 6.18; dualpi2
/// its factors (net/sched/sch_dualpi2.c: `dualpi2_scale_alpha_beta`, Linux 7.2). Setting one more
/// than the reported number results in the same report.
fn request_of(node: &Node) -> Vec<u8> {
    let rounded: &[u16] = match node.kind.as_str() {
        "codel" => &[1, 3, 5],
        "fq_codel" => &[1, 3, 7],
        "pie" => &[1],
        "fq_pie" => &[3],
        "dualpi2" => &[5, 6],
        _ => &[],
    };
    if node.kind == "cake" {
        return without_nat(&node.options);
    }
    let mut options = node.options.clone();
    // This one reads its options only if they are flagged as nested, but does not set that flag
    // itself (net/sched/sch_dualpi2.c: `dualpi2_change`, `dualpi2_dump`, Linux 7.2).
    if node.kind == "dualpi2" && options.len() >= 4 {
        options[2..4].copy_from_slice(&(TCA_OPTIONS | NLA_F_NESTED).to_ne_bytes());
    }
    let start = node.options.as_ptr() as usize;
    for attr in Attrs::new(node.options.get(4..).unwrap_or(&[])) {
        let time = attr.u32().filter(|_| rounded.contains(&attr.kind));
        if let Some(more) = time.and_then(|us| us.checked_add(1)) {
            let at = attr.payload.as_ptr() as usize - start;
            options[at..at + 4].copy_from_slice(&more.to_ne_bytes());
        }
    }
    options
}

/// A kernel without connection tracking reports that cake does not look up addresses behind NAT,
/// and rejects it (net/sched/sch_cake.c: `cake_change`). It is the default.
fn without_nat(options: &[u8]) -> Vec<u8> {
    const TCA_CAKE_NAT: u16 = 11;
    let mut m = Message::new(0, 0);
    m.nest(TCA_OPTIONS, |m| {
        for (kind, whole) in Attrs::new(options.get(4..).unwrap_or(&[])).whole() {
            let off = whole.get(4..).is_none_or(|v| v.iter().all(|&b| b == 0));
            if kind != TCA_CAKE_NAT || !off {
                m.raw(whole);
            }
        }
    });
    m.payload().to_vec()
}

fn dump(nl: &mut Netlink, kind: u16, ifindex: u32, op: &str) -> Result<Vec<Node>, NetlinkError> {
    let mut m = Message::new(kind, 0);
    m.raw(&tcmsg(ifindex, Handle::NONE, Handle::NONE, 0));
    nl.dump(&mut m, op, |payload| {
        (bytes::u32_at(payload, 4)? == ifindex)
            .then(|| node(payload))
            .flatten()
    })
}

pub(crate) fn node(payload: &[u8]) -> Option<Node> {
    let attrs = Attrs::after(payload, TCMSG_LEN);
    let kind = Kind::new(attrs.get(TCA_KIND)?.payload).to_string();
    let handle = Handle::from_raw(bytes::u32_at(payload, 8)?);
    let mut options = attrs
        .whole()
        .find(|(kind, _)| *kind == TCA_OPTIONS)
        .map(|(_, whole)| whole.to_vec())
        .unwrap_or_default();
    if kind == "htb" && handle.minor() == 0 {
        settable_htb(&mut options);
    }
    Some(Node {
        kind,
        handle,
        parent: Handle::from_raw(bytes::u32_at(payload, 12)?),
        options,
    })
}

/// Turns the report of htb's options into a request: its counter is zeroed, and its version is the
/// major one only (net/sched/sch_htb.c: `htb_dump`, `htb_init`).
fn settable_htb(options: &mut [u8]) {
    let start = options.as_ptr() as usize;
    let glob = options
        .get(4..)
        .and_then(|o| Attrs::new(o).get(TCA_HTB_INIT).map(|a| a.payload));
    let Some(at) = glob.map(|glob| glob.as_ptr() as usize - start) else {
        return;
    };
    if let Some(version) = bytes::u32_at(options, at).filter(|v| *v > 0xffff) {
        options[at..at + 4].copy_from_slice(&(version >> 16).to_ne_bytes());
    }
    if let Some(counter) = options.get_mut(at + HTB_DIRECT_PACKETS..at + HTB_DIRECT_PACKETS + 4) {
        counter.fill(0);
    }
}

/// Classes above a class.
fn depth(classes: &[Node], class: &Node) -> usize {
    let mut at = class;
    for depth in 0..classes.len() {
        match classes.iter().find(|c| c.handle == at.parent) {
            Some(parent) => at = parent,
            None => return depth,
        }
    }
    classes.len()
}

#[cfg(test)]
mod tests;
