//! Other programs that write the same settings.

use std::{collections::BTreeMap, fs};

use model::change::Setting;

/// Group of settings that a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Parameters,
    Queues,
    Routes,
    Mtu,
    Offloads,
    Clamp,
    Modules,
}

/// A program by the name of its process, the settings it writes, and how.
type Writer = (&'static str, &'static [Field], &'static str);

const WRITERS: &[Writer] = &[
    (
        "tuned",
        &[
            Field::Parameters,
            Field::Mtu,
            Field::Offloads,
            Field::Modules,
        ],
        "applies its profile again whenever it is restarted or switched",
    ),
    (
        "bpftune",
        &[Field::Parameters, Field::Routes],
        "chooses congestion controls and buffers by itself",
    ),
    (
        "irqbalance",
        &[Field::Offloads],
        "moves interrupts between processors",
    ),
    (
        "cake-autorate",
        &[Field::Queues],
        "changes the rate of cake all the time",
    ),
    (
        "sqm-autorate",
        &[Field::Queues],
        "changes the rate of cake all the time",
    ),
    (
        "qosifyd",
        &[Field::Queues],
        "owns the queues of its devices",
    ),
    (
        "tailscaled",
        &[Field::Routes, Field::Mtu],
        "rewrites its routes and the MTU of its device",
    ),
    (
        "netbird",
        &[Field::Routes, Field::Clamp],
        "rewrites its routes and its MSS clamp",
    ),
    (
        "cilium-agent",
        &[Field::Queues, Field::Parameters],
        "owns the queues of its devices and may set bbr",
    ),
    (
        "kubelet",
        &[Field::Parameters],
        "sets kernel parameters of its own",
    ),
    (
        "systemd-networkd",
        &[Field::Queues, Field::Routes, Field::Mtu],
        "sets what its files name of a link again whenever it configures it",
    ),
    (
        "NetworkManager",
        &[Field::Queues, Field::Routes, Field::Mtu],
        "sets what its profile names of a device again whenever it activates it",
    ),
    (
        "netifd",
        &[Field::Queues, Field::Routes, Field::Mtu],
        "sets its devices up again at every ifup, and so do sqm's scripts",
    ),
];

/// Returns the effects that programs running here may have on these settings, one sentence each.
/// Programs in containers count: they share the kernel.
pub fn writers<'a>(settings: impl IntoIterator<Item = &'a Setting>) -> Vec<String> {
    let written: Vec<Field> = settings.into_iter().map(field).collect();
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
        if let Some((name, effect)) = known(name.trim(), &written) {
            found.insert(name, effect);
        }
    }
    found
        .into_iter()
        .map(|(name, effect)| format!("{name} runs here, which {effect}"))
        .collect()
}

fn field(setting: &Setting) -> Field {
    match setting {
        Setting::Sysctl { .. } => Field::Parameters,
        Setting::RouteCongestionControl { .. } => Field::Routes,
        Setting::Queue { .. } | Setting::Ingress { .. } | Setting::QueueLength { .. } => {
            Field::Queues
        }
        Setting::Mtu { .. } => Field::Mtu,
        Setting::Module { .. } => Field::Modules,
        Setting::Rings { .. } | Setting::Channels { .. } => Field::Offloads,
        Setting::Offload { .. }
        | Setting::ReceiveSteering { .. }
        | Setting::TransmitSteering { .. } => Field::Offloads,
        Setting::MssClamp { .. } => Field::Clamp,
    }
}

/// The kernel cuts names of processes after 15 bytes (`TASK_COMM_LEN`).
fn known(comm: &str, written: &[Field]) -> Option<(&'static str, &'static str)> {
    let (name, fields, effect) = WRITERS
        .iter()
        .find(|(name, ..)| comm == name.get(..15).unwrap_or(name))?;
    let is_concerned = fields.iter().any(|field| written.contains(field));
    is_concerned.then_some((*name, *effect))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_writes_other_settings_is_not_named() {
        assert!(known("tailscaled", &[Field::Routes]).is_some());
        assert!(known("tailscaled", &[Field::Queues]).is_none());
    }

    #[test]
    fn programs_are_known_by_their_whole_name() {
        let all = [Field::Parameters];
        assert!(known("tuned", &all).is_some());
        assert!(known("tuned-gui", &all).is_none());
        assert!(known("", &all).is_none());
        // As the kernel cuts it.
        assert!(known("systemd-network", &[Field::Queues]).is_some());
    }
}
