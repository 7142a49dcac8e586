//! Settings as drop-ins of systemd-networkd's `.network` files and udev's `.link` files
//! (systemd.network(5), systemd.link(5), systemd 252).

use std::{fs, path::Path};

use model::change::{Htb, Queue, Setting};

use super::ini;
use crate::error::PersistError;

/// A section and its `Key=Value` lines.
pub(super) type Part = (&'static str, Vec<(&'static str, String)>);

/// Sections that are queue disciplines; each may be the root.
const QUEUES: &[&str] = &[
    "BFIFO",
    "CAKE",
    "ControlledDelay",
    "DeficitRoundRobinScheduler",
    "EnhancedTransmissionSelection",
    "FairQueueing",
    "FairQueueingControlledDelay",
    "FlowQueuePIE",
    "GenericRandomEarlyDetection",
    "HeavyHitterFilter",
    "HierarchyTokenBucket",
    "NetworkEmulator",
    "PFIFO",
    "PFIFOFast",
    "PFIFOHeadDrop",
    "PIE",
    "QuickFairQueueing",
    "StochasticFairBlue",
    "StochasticFairnessQueueing",
    "TokenBucketFilter",
    "TrivialLinkEqualizer",
];

/// The sections of a `.network` file for a setting; `None` if it has no section for it.
pub(super) fn network(setting: &Setting) -> Option<Vec<Part>> {
    match setting {
        Setting::Mtu { bytes, .. } => Some(vec![("Link", vec![("MTUBytes", bytes.to_string())])]),
        Setting::Queue { queue, .. } => queues(queue),
        _ => None,
    }
}

/// The sections of a `.link` file for a setting; `None` if it has no section for it.
pub(super) fn link(setting: &Setting) -> Option<Vec<Part>> {
    let given = |all: &[(&'static str, Option<u32>)]| -> Vec<(&'static str, String)> {
        let given = all.iter().filter_map(|(key, n)| Some((*key, (*n)?)));
        given.map(|(key, n)| (key, n.to_string())).collect()
    };
    let entries = match setting {
        Setting::QueueLength { packets, .. } => given(&[("TransmitQueueLength", Some(*packets))]),
        Setting::Rings { rx, tx, .. } => given(&[("RxBufferSize", *rx), ("TxBufferSize", *tx)]),
        Setting::Channels {
            rx, tx, combined, ..
        } => given(&[
            ("RxChannels", *rx),
            ("TxChannels", *tx),
            ("CombinedChannels", *combined),
        ]),
        Setting::Offload { feature, on, .. } => vec![(offload(feature)?, yes(*on))],
        _ => return None,
    };
    Some(vec![("Link", entries)])
}

/// Sections as text.
pub(super) fn text(parts: &[Part]) -> String {
    let section = |(name, entries): &Part| {
        let lines: String = entries.iter().map(|(k, v)| format!("{k}={v}\n")).collect();
        format!("[{name}]\n{lines}")
    };
    parts.iter().map(section).collect()
}

/// Checks that all files together have the values of these sections: the last value of a key
/// applies, and a device has one root queue.
///
/// # Errors
/// Another file, named in the error, sets it.
pub(super) fn is_effective(
    root: &Path,
    file: &Path,
    own: &Path,
    parts: &[Part],
) -> Result<(), PersistError> {
    for path in ini::files(root, file).iter().filter(|path| *path != own) {
        let is_later = path.file_name() > own.file_name() && path.parent() != file.parent();
        let text = fs::read_to_string(path).unwrap_or_default();
        for section in ini::sections(&text) {
            for (name, entries) in parts {
                let other = match QUEUES.contains(name) {
                    true => is_root(&section).then(|| section.name.clone()),
                    false => overridden(&section, name, entries).filter(|_| is_later),
                };
                if let Some(value) = other {
                    return Err(PersistError::Overridden {
                        name: (*name).to_owned(),
                        value,
                        file: path.display().to_string(),
                    });
                }
            }
        }
    }
    match ini::files(root, file).iter().any(|path| path == own) {
        true => Ok(()),
        false => Err(PersistError::NotRead(own.display().to_string())),
    }
}

/// The other value of one of the keys of a section.
fn overridden(
    section: &ini::Section,
    name: &str,
    entries: &[(&'static str, String)],
) -> Option<String> {
    let same = |key: &str| entries.iter().find(|(own, _)| *own == key);
    let mut others = section.entries.iter().filter_map(|(key, value)| {
        let (_, own) = same(key)?;
        (own != value).then(|| format!("{key}={value}"))
    });
    (section.name == name).then(|| others.next()).flatten()
}

/// True for a queue at the root, which is the default parent.
fn is_root(section: &ini::Section) -> bool {
    let parent = section
        .entries
        .iter()
        .rev()
        .find(|(key, _)| key == "Parent");
    let is_root = parent.is_none_or(|(_, value)| value == "root" || value.is_empty());
    QUEUES.contains(&section.name.as_str()) && is_root
}

fn queues(queue: &Queue) -> Option<Vec<Part>> {
    let root = ("Parent", "root".to_owned());
    let with = |name, all: Vec<(&'static str, Option<String>)>| {
        let given = all
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        (name, std::iter::once(root.clone()).chain(given).collect())
    };
    let number = |n: &Option<u32>| n.map(|n| n.to_string());
    let span = |us: &Option<u32>| us.map(|us| format!("{us}us"));
    Some(match queue {
        // systemd 252 has neither an option for packets that passed the line already, nor RTTSec=,
        // which it would leave out with a warning in its log.
        Queue::Cake(q) if q.ingress == Some(true) || q.rtt_us.is_some() => return None,
        Queue::Cake(q) => vec![with(
            "CAKE",
            vec![
                ("Bandwidth", q.rate_bps.map(|bps| bps.to_string())),
                ("OverheadBytes", q.overhead_bytes.map(|n| n.to_string())),
                ("NAT", q.nat.map(yes)),
            ],
        )],
        Queue::FqCodel(q) => vec![with(
            "FairQueueingControlledDelay",
            vec![
                ("PacketLimit", number(&q.limit_packets)),
                ("TargetSec", span(&q.target_us)),
                ("IntervalSec", span(&q.interval_us)),
                ("ECN", q.ecn.map(yes)),
            ],
        )],
        Queue::Fq(q) => vec![with(
            "FairQueueing",
            vec![
                ("PacketLimit", number(&q.limit_packets)),
                ("FlowLimit", number(&q.flow_limit_packets)),
            ],
        )],
        Queue::Htb(q) => shaper(q),
        Queue::Pfifo { limit_packets } => {
            vec![with("PFIFO", vec![("PacketLimit", number(limit_packets))])]
        }
        Queue::Bfifo { limit_bytes } => {
            vec![with("BFIFO", vec![("LimitBytes", number(limit_bytes))])]
        }
    })
}

/// A class that limits, and the queue in it.
fn shaper(htb: &Htb) -> Vec<Part> {
    let inside = match htb.queue {
        model::remedy::Discipline::Fq => "FairQueueing",
        model::remedy::Discipline::FqCodel => "FairQueueingControlledDelay",
        model::remedy::Discipline::Cake => "CAKE",
    };
    let own = str::to_owned;
    let bucket = htb.burst_bytes().to_string();
    vec![
        (
            "HierarchyTokenBucket",
            vec![
                ("Parent", own("root")),
                ("Handle", own("1")),
                ("DefaultClass", own("1")),
            ],
        ),
        (
            "HierarchyTokenBucketClass",
            vec![
                ("Parent", own("root")),
                ("ClassId", own("1:1")),
                ("Rate", htb.rate_bps.to_string()),
                ("BufferBytes", bucket.clone()),
                ("CeilBufferBytes", bucket),
                ("QuantumBytes", Htb::QUANTUM_BYTES.to_string()),
            ],
        ),
        (inside, vec![("Parent", own("1:1")), ("Handle", own("11"))]),
    ]
}

fn offload(feature: &str) -> Option<&'static str> {
    Some(match feature {
        "rx-gro" => "GenericReceiveOffload",
        "rx-gro-hw" => "GenericReceiveOffloadHardware",
        "rx-lro" => "LargeReceiveOffload",
        "tx-generic-segmentation" => "GenericSegmentationOffload",
        "tx-tcp-segmentation" => "TCPSegmentationOffload",
        "tx-tcp6-segmentation" => "TCP6SegmentationOffload",
        _ => return None,
    })
}

fn yes(on: bool) -> String {
    if on { "yes" } else { "no" }.to_owned()
}

/// The text of a `.network` file for a setting; `None` if it cannot be set there.
pub fn networkd_text(setting: &Setting) -> Option<String> {
    network(setting).map(|parts| text(&parts))
}
