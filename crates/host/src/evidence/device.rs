//! Devices and the queues on them, as the kernel lists them.

use sys::{
    Netlink, ethtool,
    link::{self, LinkCounters},
    tc,
};

use super::scope::Scope;

/// Counters of one device; driver counters by name.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) name: String,
    pub(super) counters: LinkCounters,
    pub(super) driver: Vec<(String, u64)>,
}

/// Devices of the scope, and the queues on them if they could be listed.
type Devices = (Vec<Device>, Option<Vec<(String, tc::QdiscStats)>>);

pub(super) fn devices(scope: &Scope) -> Option<Devices> {
    if scope.devices.is_empty() {
        return None;
    }
    let mut nl = Netlink::route().ok()?;
    let mut devices = Vec::new();
    for device in &scope.devices {
        let Ok(link) = link::show(&mut nl, device.index) else {
            continue;
        };
        let values = match device.wanted[..] {
            [] => Vec::new(),
            _ => ethtool::statistics(&link.name, device.statistics).unwrap_or_default(),
        };
        let named = |(place, name): &(usize, String)| Some((name.clone(), *values.get(*place)?));
        devices.push(Device {
            name: link.name,
            counters: link.counters,
            driver: device.wanted.iter().filter_map(named).collect(),
        });
    }
    // One dump of all devices: the kernel does not choose by device.
    let name = |index| scope.devices.iter().find(|d| d.index == index);
    let qdiscs = tc::stats(&mut nl, None).ok().map(|all| {
        all.into_iter()
            .filter_map(|q| Some((name(q.ifindex)?.name.clone(), q)))
            .collect()
    });
    Some((devices, qdiscs))
}
