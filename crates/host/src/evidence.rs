//! Counters and processor time of this host during a measurement, as [`model::evidence`] defines
//! them.
//!
//! A [`Snapshot`] is taken before and after; it stores the kernel's text, which is parsed only when
//! two snapshots are compared, so that taking one is cheap. Counters are those of the calling
//! thread's network namespace; processor time is the host's.

mod counters;
mod cpu;
mod device;
pub mod hotspots;
mod scope;

use std::collections::BTreeMap;

use model::evidence::{Evidence, difference};
use sys::{clock::Instant, procfs, tc};

use device::{Device, devices};

pub use scope::Scope;

/// The host's counters at one moment.
#[derive(Debug)]
pub struct Snapshot {
    at: Instant,
    /// Files below /proc/net by name.
    net: BTreeMap<&'static str, String>,
    devices: Vec<Device>,
    qdiscs: Option<Vec<(String, tc::QdiscStats)>>,
    port: Option<u16>,
    cpu: Option<cpu::Times>,
}

/// Files read below /proc/net.
const NET: &[&str] = &["snmp", "netstat", "snmp6", "softnet_stat", "udp", "udp6"];

impl Snapshot {
    /// Takes a snapshot. Values that cannot be read are absent.
    pub fn take(scope: &Scope) -> Snapshot {
        let at = Instant::now();
        let read = |name: &&'static str| Some((*name, procfs::read_net(name).ok()?));
        let net = NET.iter().filter_map(read).collect();
        let (devices, qdiscs) = devices(scope).unwrap_or_default();
        Snapshot {
            at,
            net,
            devices,
            qdiscs,
            port: scope.tunnel_port,
            cpu: scope.cpu.then(|| cpu::Times::read(scope)),
        }
    }

    /// The evidence from this snapshot to a later one of the same scope.
    pub fn until(&self, later: &Snapshot) -> Evidence {
        let (before, after) = (self.counters(), later.counters());
        let mut evidence = Evidence {
            interval_us: u64::try_from(later.at.since(self.at) / 1000).unwrap_or_default(),
            levels: later.levels(),
            ..Evidence::default()
        };
        for (group, now) in &after {
            let Some(then) = before.get(group) else {
                continue;
            };
            evidence.groups.push(group.clone());
            let named = |counters: &model::evidence::Counters| {
                let full = |(name, value): (&String, &u64)| (format!("{group}.{name}"), *value);
                counters.iter().map(full).collect()
            };
            evidence
                .counters
                .extend(difference(&named(then), &named(now)));
        }
        if let Some(drops) = counters::udp_drops(&self.net, &later.net, later.port) {
            evidence.groups.push("udp".to_owned());
            evidence.counters.extend(drops);
        }
        evidence.cpu = self
            .cpu
            .as_ref()
            .zip(later.cpu.as_ref())
            .and_then(cpu::used);
        evidence
    }

    /// Counters by group.
    fn counters(&self) -> BTreeMap<String, model::evidence::Counters> {
        let mut groups = BTreeMap::new();
        counters::nstat(&self.net, &mut groups);
        counters::softnet(&self.net, &mut groups);
        for device in &self.devices {
            counters::device(device, &mut groups);
        }
        for (name, qdisc) in self.qdiscs.iter().flatten() {
            counters::qdisc(name, qdisc, &mut groups);
        }
        // A device without any queue that is shown has a group without counters.
        if self.qdiscs.is_some() {
            for device in &self.devices {
                groups.entry(format!("qdisc.{}", device.name)).or_default();
            }
        }
        groups
    }

    /// Levels: values that are not counters.
    fn levels(&self) -> BTreeMap<String, u64> {
        let mut levels = BTreeMap::new();
        for (name, qdisc) in self.qdiscs.iter().flatten() {
            let place = counters::place(qdisc);
            let bytes = u64::from(qdisc.backlog_bytes);
            levels.insert(format!("qdisc.{name}.{place}.backlog_bytes"), bytes);
            let packets = u64::from(qdisc.qlen);
            levels.insert(format!("qdisc.{name}.{place}.backlog_packets"), packets);
        }
        if let Some(port) = self.port {
            let waiting = counters::udp_waiting(&self.net, port);
            levels.extend(waiting.map(|b| (format!("udp.port{port}.rx_queue_bytes"), b)));
        }
        levels
    }
}

#[cfg(test)]
mod tests;
