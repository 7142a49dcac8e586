//! Comparison of a setting with a value that was read.

use model::change::{Queue, Saved, Setting, processors};
use sys::{route::table::Entry, tc::Handle};

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
            let bare = |mask: &str| mask.trim_start_matches(['0', ',']).to_owned();
            let wanted = bare(&processors(*cpus));
            !masks.is_empty() && masks.iter().all(|mask| bare(mask) == wanted)
        }
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

/// Returns true if two values are equal for somebody who set one of them: side effects do not
/// count.
pub(crate) fn same_value(a: &Saved, b: &Saved) -> bool {
    match (a, b) {
        (Saved::Parameter { value: a, .. }, Saved::Parameter { value: b, .. }) => {
            words(a) == words(b)
        }
        (Saved::Mtu { bytes: a, .. }, Saved::Mtu { bytes: b, .. }) => a == b,
        _ => a == b,
    }
}

/// A value in a few words.
pub(crate) fn brief(value: &Saved) -> String {
    match value {
        Saved::Parameter { value, .. } => value.clone(),
        Saved::Route { entry } => {
            let cc = Entry::from_bytes(&entry.0).and_then(|e| e.metrics().congctl);
            cc.unwrap_or_else(|| "the host's congestion control".to_owned())
        }
        Saved::NoRoute => "no route of its own".to_owned(),
        Saved::Queues { qdiscs, .. } => qdiscs
            .first()
            .map_or("no queue discipline", |q| q.kind.as_str())
            .to_owned(),
        Saved::MssClamp { present: true } => "a clamp".to_owned(),
        Saved::MssClamp { present: false } => "no clamp".to_owned(),
        Saved::Offloads { active, .. } => {
            let all: Vec<&str> = active.iter().map(String::as_str).collect();
            all.join(" ")
        }
        Saved::Processors { masks } => masks.join(" "),
        Saved::NoIngress => "no shaper".to_owned(),
        Saved::Ingress { hook, qdiscs, .. } => {
            let queue = qdiscs.first().map_or("no queue", |q| q.kind.as_str());
            let hook = hook.as_deref().unwrap_or("no");
            format!("{queue} behind {hook} hook")
        }
        Saved::Mtu { bytes, .. } => format!("{bytes} bytes"),
        Saved::Number { value } => value.to_string(),
        Saved::NoDevice => "no such device".to_owned(),
    }
}

fn is_root(queue: &Queue, qdiscs: &[model::change::QueueNode]) -> bool {
    qdiscs
        .first()
        .is_some_and(|root| root.kind == queue.name() && root.parent == Handle::ROOT.raw())
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}
