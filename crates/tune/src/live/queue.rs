//! Root queue disciplines.

use model::{
    change::{Blob, Htb, Queue, QueueNode, Saved, Setting},
    text,
    text::Text,
};
use sys::{
    Netlink, NetlinkError, Netns, link,
    tc::{
        self, Handle, Qdisc,
        tree::{self, Irreversible, Node, Tree},
    },
};

use super::placement;
use crate::error::{HostError, Refusal, RefusalReason};

pub(super) fn read(nl: &mut Netlink, index: u32) -> Result<Saved, HostError> {
    let [qdiscs, classes] = nodes(nl, index)?;
    Ok(Saved::Queues { qdiscs, classes })
}

/// Disciplines and classes of a device.
pub(super) fn nodes(nl: &mut Netlink, index: u32) -> Result<[Vec<QueueNode>; 2], HostError> {
    let Tree { qdiscs, classes } = tree::read(nl, index)?;
    Ok([qdiscs, classes].map(|nodes| nodes.into_iter().map(saved).collect()))
}

pub(super) fn check(
    nl: &mut Netlink,
    setting: &Setting,
    device: &str,
    queue: &Queue,
    old: &Saved,
) -> Result<Vec<Text>, Refusal> {
    let failed = |error: HostError| Refusal::unreadable(setting, error);
    let tree = live(old).ok_or_else(|| failed(HostError::unusable(setting)))?;
    let index = link::index(nl, device).map_err(|e| failed(e.into()))?;
    match tree::irreversible(nl, index, &tree).map_err(|e| failed(e.into()))? {
        Some(Irreversible::Filters) => {
            return Err(Refusal::new(setting, RefusalReason::Filters));
        }
        Some(Irreversible::Classes(kind)) => {
            let kind = kind.to_string();
            return Err(Refusal::new(setting, RefusalReason::Classes { kind }));
        }
        None => {}
    }
    rehearse_back(setting, &tree)?;
    let mut notes = rehearse(setting, queue)?;
    if loses_shaper(&tree, queue) {
        notes.push(text!(
            "{setting}: this removes a shaper; if a program such as sqm set it, it may return",
            setting = setting
        ));
    }
    let tunnels = placement::tunnels(nl, index).map_err(failed)?;
    notes.extend(placement::notes(setting, device, queue, &tunnels));
    Ok(notes)
}

pub(super) fn write(nl: &mut Netlink, index: u32, queue: &Queue) -> Result<(), HostError> {
    // Not changed in place: options that are not given must have the kernel's default, not the old
    // value.
    if !tree::read(nl, index)?.is_default() {
        tc::delete(nl, index, Handle::ROOT)?;
    }
    Ok(set(nl, index, queue)?)
}

/// The single class of a shaper.
const CLASS: u32 = 1;

/// Sets a discipline where the kernel's default is.
pub(super) fn set(nl: &mut Netlink, index: u32, queue: &Queue) -> Result<(), NetlinkError> {
    let root = |nl: &mut Netlink, handle, qdisc: &Qdisc| {
        tc::replace(nl, index, Handle::ROOT, handle, qdisc)
    };
    let Queue::Htb(htb) = queue else {
        return root(nl, Handle::NONE, &qdisc(queue));
    };
    let [handle, class] = [Handle::new(1, 0), Handle::new(1, CLASS as u16)];
    let bucket = Qdisc::Htb(tc::Htb {
        default_class: CLASS,
        ..tc::Htb::default()
    });
    root(nl, handle, &bucket)?;
    tc::add_htb_class(nl, index, handle, class, &bucket_of(htb))?;
    let inside = qdisc(&Queue::from(htb.queue));
    tc::replace(nl, index, class, Handle::NONE, &inside)
}

fn bucket_of(htb: &Htb) -> tc::HtbClass {
    let burst = htb.burst_bytes();
    tc::HtbClass {
        rate_bps: htb.rate_bps,
        burst_bytes: Some(burst),
        ceil_burst_bytes: Some(burst),
        quantum_bytes: Some(Htb::QUANTUM_BYTES),
        ..tc::HtbClass::default()
    }
}

pub(super) fn restore(
    nl: &mut Netlink,
    index: u32,
    setting: &Setting,
    old: &Saved,
) -> Result<(), HostError> {
    let tree = live(old).ok_or_else(|| HostError::unusable(setting))?;
    Ok(tree::restore(nl, index, &tree)?)
}

/// Tries the discipline on the loopback device of a separate namespace, so that an unsupported kind
/// or option is found before anything is changed.
pub(super) fn rehearse(setting: &Setting, queue: &Queue) -> Result<Vec<Text>, Refusal> {
    let scratch = Netns::create().and_then(|ns| ns.route().map_err(|e| e.io()));
    let Ok(mut nl) = scratch else {
        return Ok(vec![text!(
            "{setting}: not tried beforehand, which needs root",
            setting = setting
        )]);
    };
    let tried = link::index(&mut nl, "lo").and_then(|lo| set(&mut nl, lo, queue));
    match tried {
        Ok(()) => Ok(Vec::new()),
        Err(error) => {
            let kind = queue.name();
            let error = Box::new(error);
            let reason = RefusalReason::QueueRefused { kind, error };
            Err(Refusal::new(setting, reason))
        }
    }
}

/// Tests whether the kernel accepts its own report of the old disciplines: some do not.
fn rehearse_back(setting: &Setting, old: &Tree) -> Result<(), Refusal> {
    // The children of mq belong to hardware queues, which no scratch device has.
    if old.is_default() || old.root().is_some_and(|root| root.kind == "mq") {
        return Ok(());
    }
    let scratch = Netns::create().and_then(|ns| ns.route().map_err(|e| e.io()));
    let Ok(mut nl) = scratch else {
        return Ok(());
    };
    let tried = link::index(&mut nl, "lo").and_then(|lo| {
        tree::restore(&mut nl, lo, old)?;
        tree::read(&mut nl, lo)
    });
    let reason = match tried {
        Ok(now) if now == *old => return Ok(()),
        Ok(_) => RefusalReason::AlteredBack,
        Err(error) => RefusalReason::NotTakenBack(Box::new(error)),
    };
    Err(Refusal::new(setting, reason))
}

/// Returns true if a discipline in the place of an old one removes a shaper.
pub(crate) fn removes_shaper(old: &Saved, new: &Queue) -> bool {
    live(old).is_some_and(|tree| loses_shaper(&tree, new))
}

fn loses_shaper(old: &Tree, new: &Queue) -> bool {
    let shapes = |root: &Node| {
        matches!(root.kind.as_str(), "htb" | "tbf" | "cake") && root.handle != Handle::NONE
    };
    new.rate_bps().is_none() && old.root().is_some_and(shapes)
}

fn qdisc(queue: &Queue) -> Qdisc {
    match queue {
        Queue::Fq(q) => Qdisc::Fq(tc::Fq {
            limit_packets: q.limit_packets,
            flow_limit_packets: q.flow_limit_packets,
            ..tc::Fq::default()
        }),
        Queue::FqCodel(q) => Qdisc::FqCodel(tc::FqCodel {
            limit_packets: q.limit_packets,
            target_us: q.target_us,
            interval_us: q.interval_us,
            ecn: q.ecn,
            ..tc::FqCodel::default()
        }),
        Queue::Cake(q) => Qdisc::Cake(tc::Cake {
            rate_bps: q.rate_bps,
            rtt_us: q.rtt_us,
            overhead_bytes: q.overhead_bytes,
            nat: q.nat,
            ingress: q.ingress,
            ..tc::Cake::default()
        }),
        Queue::Htb(_) => Qdisc::Htb(tc::Htb::default()),
        Queue::Pfifo { limit_packets } => Qdisc::Pfifo {
            limit: *limit_packets,
        },
        Queue::Bfifo { limit_bytes } => Qdisc::Bfifo {
            limit: *limit_bytes,
        },
    }
}

fn saved(node: Node) -> QueueNode {
    QueueNode {
        kind: node.kind,
        handle: node.handle.raw(),
        parent: node.parent.raw(),
        options: Blob(node.options),
    }
}

fn live(saved: &Saved) -> Option<Tree> {
    let Saved::Queues { qdiscs, classes } = saved else {
        return None;
    };
    let nodes = |all: &[QueueNode]| {
        let node = |node: &QueueNode| Node {
            kind: node.kind.clone(),
            handle: Handle::from_raw(node.handle),
            parent: Handle::from_raw(node.parent),
            options: node.options.0.clone(),
        };
        all.iter().map(node).collect()
    };
    Some(Tree {
        qdiscs: nodes(qdiscs),
        classes: nodes(classes),
    })
}
