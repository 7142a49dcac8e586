//! Per-queue settings of network devices, available in sysfs only.
//!
//! /sys shows the network devices of the namespace in which it was mounted, not those of the
//! calling thread; so it is used only if it lists the same devices as netlink.

use std::{collections::BTreeSet, fs};

use sys::{link::Link, procfs};

/// Folder of the network devices.
const NET: &str = "/sys/class/net";

/// Returns true if /sys shows the same devices as netlink.
pub(super) fn fits(links: &[Link]) -> bool {
    let Ok(entries) = fs::read_dir(NET) else {
        return false;
    };
    let listed: BTreeSet<(String, u32)> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        // A file, not a device.
        .filter(|name| name != "bonding_masters")
        .map(|name| {
            let index = number(&format!("{NET}/{name}/ifindex")).unwrap_or(0);
            (name, index)
        })
        .collect();
    let known: BTreeSet<(String, u32)> = links.iter().map(|l| (l.name.clone(), l.index)).collect();
    listed == known && links.iter().all(same_address)
}

/// Devices of two namespaces may have the same names and numbers; their random addresses differ.
fn same_address(link: &Link) -> bool {
    let Some(mac) = link.mac else { return true };
    let text: Vec<String> = mac.iter().map(|b| format!("{b:02x}")).collect();
    let shown = procfs::read(&format!("{NET}/{}/address", link.name));
    shown.is_ok_and(|shown| shown.trim() == text.join(":"))
}

fn number(path: &str) -> Option<u32> {
    procfs::read(path).ok()?.trim().parse().ok()
}

/// The masks of processors of a device's queues: `rx` with `rps_cpus`, `tx` with `xps_cpus`. Absent
/// if none could be read.
pub(super) fn masks(link: &str, side: &str, file: &str) -> Option<Vec<String>> {
    let mut masks = Vec::new();
    for queue in 0.. {
        let folder = format!("{NET}/{link}/queues/{side}-{queue}");
        if fs::metadata(&folder).is_err() {
            break;
        }
        // A device with one transmit queue has no such mask.
        let mask = procfs::read(&format!("{folder}/{file}")).ok()?;
        masks.push(mask.trim().to_owned());
    }
    (!masks.is_empty()).then_some(masks)
}

/// The numbers of a device's interrupts, if it has any of its own.
pub(super) fn interrupts(link: &str) -> Vec<String> {
    // A virtio device is a child of the PCI device that has the interrupts.
    let folders = ["device/msi_irqs", "device/../msi_irqs"];
    for folder in folders {
        let Ok(entries) = fs::read_dir(format!("{NET}/{link}/{folder}")) else {
            continue;
        };
        let numbers = entries.flatten().map(|e| e.file_name());
        return numbers.map(|n| n.to_string_lossy().into_owned()).collect();
    }
    Vec::new()
}
