//! Counters by group, under the names of the documents.

use std::collections::BTreeMap;

use model::evidence::Counters;
use sys::{
    procfs::{self, UdpSocket},
    tc::{Handle, QdiscExtra, QdiscStats},
};

use super::device::Device;

type Net = BTreeMap<&'static str, String>;
type Groups = BTreeMap<String, Counters>;

/// TCP, UDP and IP, under the names of nstat.
pub(super) fn nstat(net: &Net, groups: &mut Groups) {
    let mut all = Counters::new();
    for name in ["snmp", "netstat"] {
        all.extend(
            net.get(name)
                .map(|t| procfs::counters(t))
                .into_iter()
                .flatten(),
        );
    }
    all.extend(
        net.get("snmp6")
            .map(|t| procfs::counters6(t))
            .into_iter()
            .flatten(),
    );
    if !all.is_empty() {
        groups.insert("nstat".to_owned(), all);
    }
}

/// The input queue of each processor. It is the host's: every network namespace shows the same.
pub(super) fn softnet(net: &Net, groups: &mut Groups) {
    let Some(text) = net.get("softnet_stat") else {
        return;
    };
    let mut all = Counters::new();
    for s in procfs::softnet(text) {
        let mut add = |name: &str, value: u32| {
            all.insert(format!("cpu{}.{name}", s.cpu), u64::from(value));
        };
        add("processed", s.processed);
        add("dropped", s.dropped);
        add("time_squeeze", s.time_squeeze);
        add("received_rps", s.received_rps);
        add("flow_limit", s.flow_limit);
    }
    groups.insert("softnet".to_owned(), all);
}

pub(super) fn device(device: &Device, groups: &mut Groups) {
    let c = &device.counters;
    let all = [
        ("rx_packets", c.rx_packets),
        ("tx_packets", c.tx_packets),
        ("rx_bytes", c.rx_bytes),
        ("tx_bytes", c.tx_bytes),
        ("rx_errors", c.rx_errors),
        ("tx_errors", c.tx_errors),
        ("rx_dropped", c.rx_dropped),
        ("tx_dropped", c.tx_dropped),
        ("rx_over_errors", c.rx_over_errors),
        ("rx_crc_errors", c.rx_crc_errors),
        ("rx_fifo_errors", c.rx_fifo_errors),
        ("rx_missed_errors", c.rx_missed_errors),
        ("tx_carrier_errors", c.tx_carrier_errors),
        ("tx_fifo_errors", c.tx_fifo_errors),
    ];
    let mut all: Counters = all.map(|(name, value)| (name.to_owned(), value)).into();
    for (name, value) in &device.driver {
        all.insert(format!("driver.{name}"), *value);
    }
    groups.insert(format!("nic.{}", device.name), all);
}

/// Parent of a queue, and its kind: `root.fq_codel`, `8001:1.fq`. All default queues have the same
/// handle, which does not distinguish the queues of a multi-queue device.
pub(super) fn place(qdisc: &QdiscStats) -> String {
    let parent = match qdisc.parent {
        // The root queue discipline of some kernels.
        Handle::NONE => Handle::ROOT,
        parent => parent,
    };
    format!("{parent}.{}", qdisc.kind)
}

pub(super) fn qdisc(device: &str, qdisc: &QdiscStats, groups: &mut Groups) {
    let group = groups.entry(format!("qdisc.{device}")).or_default();
    let place = place(qdisc);
    let mut add = |name: &str, value: u64| {
        group.insert(format!("{place}.{name}"), value);
    };
    add("bytes", qdisc.bytes);
    add("packets", qdisc.packets);
    add("drops", u64::from(qdisc.drops));
    add("overlimits", u64::from(qdisc.overlimits));
    add("requeues", u64::from(qdisc.requeues));
    for (name, value) in extra(qdisc.extra) {
        add(name, value);
    }
}

/// Counters of drops and marks that only some kinds have.
fn extra(extra: Option<QdiscExtra>) -> Vec<(&'static str, u64)> {
    let n = u64::from;
    match extra {
        None => Vec::new(),
        Some(QdiscExtra::Path { lost, drops, .. }) => {
            vec![("loss_drops", lost), ("overlimit_drops", n(drops))]
        }
        Some(QdiscExtra::Netem {
            dropped,
            ecn_marked,
            ..
        }) => vec![("loss_drops", dropped), ("ecn_marks", ecn_marked)],
        Some(QdiscExtra::Codel {
            ecn_mark, ce_mark, ..
        }) => vec![("ecn_marks", n(ecn_mark)), ("ce_marks", n(ce_mark))],
        Some(QdiscExtra::FqCodel {
            ecn_mark,
            ce_mark,
            drop_overlimit,
            drop_overmemory,
            ..
        }) => vec![
            ("ecn_marks", n(ecn_mark)),
            ("ce_marks", n(ce_mark)),
            ("overlimit_drops", n(drop_overlimit)),
            ("overmemory_drops", n(drop_overmemory)),
        ],
        Some(QdiscExtra::Fq {
            throttled,
            flows_plimit,
            ce_mark,
            horizon_drops,
            ..
        }) => vec![
            ("throttled", throttled),
            ("flows_plimit", flows_plimit),
            ("ce_marks", ce_mark),
            ("horizon_drops", horizon_drops),
        ],
        Some(QdiscExtra::Pie {
            ecn_mark,
            overlimit,
            dropped,
            ..
        }) => vec![
            ("ecn_marks", n(ecn_mark)),
            ("overlimit_drops", n(overlimit)),
            ("early_drops", n(dropped)),
        ],
        Some(QdiscExtra::Cake {
            ecn_mark,
            acks_dropped,
            ..
        }) => vec![("ecn_marks", n(ecn_mark)), ("ack_drops", n(acks_dropped))],
        Some(QdiscExtra::DualPi2 {
            ecn_mark,
            step_mark,
            packets_in_c,
            packets_in_l,
            ..
        }) => vec![
            ("ecn_marks", n(ecn_mark)),
            ("step_marks", n(step_mark)),
            ("classic_packets", n(packets_in_c)),
            ("l4s_packets", n(packets_in_l)),
        ],
        Some(QdiscExtra::Red {
            early,
            overlimit,
            marked,
        }) => vec![
            ("ecn_marks", n(marked)),
            ("early_drops", n(early)),
            ("overlimit_drops", n(overlimit)),
        ],
    }
}

/// All UDP sockets of the namespace; `None` if they could not be read.
fn sockets(net: &Net) -> Option<Vec<UdpSocket>> {
    let mut all = procfs::udp_sockets(net.get("udp")?);
    all.extend(
        net.get("udp6")
            .map(|t| procfs::udp_sockets(t))
            .into_iter()
            .flatten(),
    );
    Some(all)
}

/// Increase of the drops of all UDP sockets, and of the tunnel's sockets by their port. A counter
/// disappears with its socket, so sockets are compared individually.
pub(super) fn udp_drops(before: &Net, after: &Net, port: Option<u16>) -> Option<Counters> {
    let before = sockets(before)?;
    let then: BTreeMap<u64, u64> = before.iter().map(|s| (s.inode, s.drops)).collect();
    let mut drops = Counters::new();
    for socket in sockets(after)? {
        let by = socket
            .drops
            .saturating_sub(then.get(&socket.inode).copied().unwrap_or(0));
        if by == 0 {
            continue;
        }
        *drops.entry("udp.drops".to_owned()).or_default() += by;
        if port == Some(socket.port) {
            let name = format!("udp.port{}.drops", socket.port);
            *drops.entry(name).or_default() += by;
        }
    }
    Some(drops)
}

/// Bytes that wait in the sockets of a port.
pub(super) fn udp_waiting(net: &Net, port: u16) -> Option<u64> {
    let mut found = sockets(net)?;
    found.retain(|s| s.port == port);
    (!found.is_empty()).then(|| found.iter().map(|s| s.rx_queue_bytes).sum())
}
