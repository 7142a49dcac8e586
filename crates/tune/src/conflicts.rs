//! Other programs that write the same settings.

use std::{collections::BTreeMap, fs};

/// Programs by the name of their process, and what they do to settings.
const WRITERS: &[(&str, &str)] = &[
    (
        "tuned",
        "applies its profile again whenever it is restarted or switched",
    ),
    (
        "bpftune",
        "chooses congestion controls and buffers by itself",
    ),
    ("irqbalance", "moves interrupts between processors"),
    ("cake-autorate", "changes the rate of cake all the time"),
    ("sqm-autorate", "changes the rate of cake all the time"),
    ("qosifyd", "owns the queues of its devices"),
    (
        "tailscaled",
        "rewrites its routes and the MTU of its device",
    ),
    ("netbird", "rewrites its routes and its MSS clamp"),
    (
        "cilium-agent",
        "owns the queues of its devices and may set bbr",
    ),
    ("kubelet", "sets kernel parameters of its own"),
];

/// What the programs that run here may do to a change, one sentence each. Programs in containers
/// count: they share the kernel.
pub fn writers() -> Vec<String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let is_process = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
        if !is_process {
            continue;
        }
        let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        if let Some((name, effect)) = known(name.trim()) {
            found.insert(name, effect);
        }
    }
    found
        .into_iter()
        .map(|(name, effect)| format!("{name} runs here, which {effect}"))
        .collect()
}

/// The kernel cuts names of processes after 15 bytes (`TASK_COMM_LEN`).
fn known(comm: &str) -> Option<(&'static str, &'static str)> {
    WRITERS
        .iter()
        .find(|(name, _)| comm == name.get(..15).unwrap_or(name))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_by_their_whole_name() {
        assert!(known("tuned").is_some());
        assert!(known("tuned-gui").is_none());
        assert!(known("").is_none());
    }
}
