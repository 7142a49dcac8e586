//! Comparison of a setting with a value that was read.

use model::{
    change::{Queue, QueueNode, Saved, Setting, processors, sending},
    text,
    text::Text,
};
use sys::{route::table::Entry, tc::Handle};

use crate::part;

/// Returns true if a value read from the host is the value of a setting. Options of a queue
/// discipline are rounded by the kernel, so only its kind counts.
pub(crate) fn holds(setting: &Setting, read: &Saved) -> bool {
    match (setting, read) {
        (Setting::Sysctl { value, .. }, Saved::Parameter { value: read, .. }) => {
            words(value) == words(read)
        }
        (Setting::RouteCongestionControl { cc, .. }, Saved::Route { entry }) => {
            let entry = Entry::from_bytes(&entry.0);
            entry.is_some_and(|e| e.metrics().congctl.as_ref() == Some(cc))
        }
        (Setting::Queue { queue, .. }, Saved::Queues { qdiscs, .. }) => is_root(queue, qdiscs),
        (Setting::MssClamp { .. }, Saved::MssClamp { present }) => *present,
        (Setting::Offload { feature, on, .. }, Saved::Offloads { active, .. }) => {
            active.contains(feature) == *on
        }
        (Setting::ReceiveSteering { cpus, .. }, Saved::Processors { masks }) => {
            let wanted = bare(&processors(*cpus));
            !masks.is_empty() && masks.iter().all(|mask| bare(mask) == wanted)
        }
        (Setting::TransmitSteering { cpus, .. }, Saved::Processors { masks }) => {
            let count = masks.len() as u32;
            let wanted = (0..count).map(|queue| bare(&sending(queue, count, *cpus)));
            !masks.is_empty() && masks.iter().map(|mask| bare(mask)).eq(wanted)
        }
        (Setting::Rings { rx, tx, .. }, Saved::Rings { rx: a, tx: b }) => {
            is_rounded(*rx, *a) && is_rounded(*tx, *b)
        }
        (
            Setting::Channels {
                rx, tx, combined, ..
            },
            Saved::Channels {
                rx: a,
                tx: b,
                combined: c,
                ..
            },
        ) => [(rx, a), (tx, b), (combined, c)]
            .iter()
            .all(|(wanted, now)| wanted.is_none_or(|wanted| wanted == **now)),
        (Setting::Module { name }, Saved::Modules { present }) => present.contains(name),
        (Setting::Ingress { queue, .. }, Saved::Ingress { hook, qdiscs, .. }) => {
            hook.is_some() && is_root(queue, qdiscs)
        }
        (Setting::Mtu { bytes, .. }, Saved::Mtu { bytes: read, .. }) => bytes == read,
        (Setting::QueueLength { packets, .. }, Saved::Number { value }) => {
            u64::from(*packets) == *value
        }
        _ => false,
    }
}

/// Returns true if two values of a setting are equal apart from side effects of setting them.
pub(crate) fn same_value(setting: &Setting, a: &Saved, b: &Saved) -> bool {
    let own = part::over(setting, a, b);
    match (&own, b) {
        (Saved::Parameter { value: a, .. }, Saved::Parameter { value: b, .. }) => {
            words(a) == words(b)
        }
        (Saved::Mtu { bytes: a, .. }, Saved::Mtu { bytes: b, .. }) => a == b,
        (
            Saved::Channels {
                rx, tx, combined, ..
            },
            Saved::Channels {
                rx: rx_b,
                tx: tx_b,
                combined: combined_b,
                ..
            },
        ) => [rx, tx, combined] == [rx_b, tx_b, combined_b],
        // Other programs load modules, too.
        (Saved::Modules { .. }, Saved::Modules { .. }) => true,
        _ => own == *b,
    }
}

/// Returns true if a value that was read before a boot, or before its files have set it again, is
/// the one read after it, apart from what is numbered anew: handles of queues, and devices of
/// routes.
pub(crate) fn is_booted_value(setting: &Setting, before: &Saved, now: &Saved) -> bool {
    match (before, now) {
        (Saved::Queues { qdiscs: a, .. }, Saved::Queues { qdiscs: b, .. }) => are_alike(a, b),
        (
            Saved::Ingress {
                hook: a,
                qdiscs: qdiscs_a,
                ..
            },
            Saved::Ingress {
                hook: b,
                qdiscs: qdiscs_b,
                ..
            },
        ) => a == b && are_alike(qdiscs_a, qdiscs_b),
        (Saved::Route { .. }, Saved::Route { .. }) => brief(before) == brief(now),
        _ => same_value(setting, before, now),
    }
}

/// A value in a few words.
pub(crate) fn brief(value: &Saved) -> Text {
    match value {
        Saved::Parameter { value, .. } => Text::name(value),
        Saved::Route { entry } => {
            let cc = Entry::from_bytes(&entry.0).and_then(|e| e.metrics().congctl);
            cc.map_or_else(|| text!("the host's congestion control"), Text::name)
        }
        Saved::NoRoute => text!("no route of its own"),
        Saved::Queues { qdiscs, .. } => match qdiscs.first() {
            Some(root) => Text::name(&root.kind),
            None => text!("no queue discipline"),
        },
        Saved::MssClamp { present: true } => text!("a clamp"),
        Saved::MssClamp { present: false } => text!("no clamp"),
        Saved::Offloads { active, .. } => {
            let all: Vec<&str> = active.iter().map(String::as_str).collect();
            Text::name(all.join(" "))
        }
        Saved::Processors { masks } => Text::name(masks.join(" ")),
        Saved::Rings { rx, tx } => text!("rx={rx} tx={tx}", rx = *rx, tx = *tx),
        Saved::Channels {
            rx, tx, combined, ..
        } => text!(
            "rx={rx} tx={tx} combined={combined}",
            rx = *rx,
            tx = *tx,
            combined = *combined
        ),
        Saved::Modules { present } if present.is_empty() => text!("no such module"),
        Saved::Modules { present } => {
            let all: Vec<&str> = present.iter().map(String::as_str).collect();
            Text::name(all.join(" "))
        }
        Saved::NoIngress => text!("no shaper"),
        Saved::Ingress { hook, qdiscs, .. } => {
            let queue = qdiscs.first().map_or_else(
                || text!("no queue discipline"),
                |root| Text::name(&root.kind),
            );
            match hook {
                Some(hook) => {
                    text!("{queue} behind the {hook} hook", queue = queue, hook = hook)
                }
                None => text!("{queue} behind no hook", queue = queue),
            }
        }
        Saved::Mtu { bytes, .. } => text!("{n} bytes", n = *bytes),
        Saved::Number { value } => Text::name(*value),
        Saved::NoDevice => text!("no such device"),
    }
}

/// Returns true if disciplines differ by nothing but their handles.
fn are_alike(a: &[QueueNode], b: &[QueueNode]) -> bool {
    let is_alike =
        |(a, b): (&QueueNode, &QueueNode)| (&a.kind, &a.options) == (&b.kind, &b.options);
    a.len() == b.len() && a.iter().zip(b).all(is_alike)
}

/// A mask without zeros before it.
fn bare(mask: &str) -> String {
    mask.trim_start_matches(['0', ',']).to_owned()
}

/// Drivers round the size of a ring up, to a power of two or a multiple of at most 64.
fn is_rounded(wanted: Option<u32>, now: u32) -> bool {
    wanted.is_none_or(|wanted| {
        let most = wanted.saturating_add(63).max(wanted.next_power_of_two());
        (wanted..=most).contains(&now)
    })
}

fn is_root(queue: &Queue, qdiscs: &[QueueNode]) -> bool {
    qdiscs
        .first()
        .is_some_and(|root| root.kind == queue.name() && root.parent == Handle::ROOT.raw())
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}
