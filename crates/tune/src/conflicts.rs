//! Other programs that write the same settings.

use std::{collections::BTreeMap, fs};

use model::{change::Setting, text, text::Text};

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

/// Effect of a program on settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Profile,
    CongestionAndBuffers,
    Interrupts,
    CakeRate,
    DeviceQueues,
    RoutesAndMtu,
    RoutesAndClamp,
    QueuesAndBbr,
    OwnParameters,
    LinkFiles,
    DeviceProfiles,
    Ifup,
}

impl Effect {
    fn text(self) -> Text {
        match self {
            Self::Profile => {
                text!("applies its profile again whenever it is restarted or switched")
            }
            Self::CongestionAndBuffers => {
                text!("chooses congestion controls and buffers by itself")
            }
            Self::Interrupts => text!("moves interrupts between processors"),
            Self::CakeRate => text!("changes the rate of cake all the time"),
            Self::DeviceQueues => text!("owns the queues of its devices"),
            Self::RoutesAndMtu => text!("rewrites its routes and the MTU of its device"),
            Self::RoutesAndClamp => text!("rewrites its routes and its MSS clamp"),
            Self::QueuesAndBbr => text!("owns the queues of its devices and may set bbr"),
            Self::OwnParameters => text!("sets kernel parameters of its own"),
            Self::LinkFiles => {
                text!("sets what its files name of a link again whenever it configures it")
            }
            Self::DeviceProfiles => {
                text!("sets what its profile names of a device again whenever it activates it")
            }
            Self::Ifup => {
                text!("sets its devices up again at every ifup, and so do sqm's scripts")
            }
        }
    }
}

/// A program by the name of its process, the settings it writes, and how.
type Writer = (&'static str, &'static [Field], Effect);

const WRITERS: &[Writer] = &[
    (
        "tuned",
        &[
            Field::Parameters,
            Field::Mtu,
            Field::Offloads,
            Field::Modules,
        ],
        Effect::Profile,
    ),
    (
        "bpftune",
        &[Field::Parameters, Field::Routes],
        Effect::CongestionAndBuffers,
    ),
    ("irqbalance", &[Field::Offloads], Effect::Interrupts),
    ("cake-autorate", &[Field::Queues], Effect::CakeRate),
    ("sqm-autorate", &[Field::Queues], Effect::CakeRate),
    ("qosifyd", &[Field::Queues], Effect::DeviceQueues),
    (
        "tailscaled",
        &[Field::Routes, Field::Mtu],
        Effect::RoutesAndMtu,
    ),
    (
        "netbird",
        &[Field::Routes, Field::Clamp],
        Effect::RoutesAndClamp,
    ),
    (
        "cilium-agent",
        &[Field::Queues, Field::Parameters],
        Effect::QueuesAndBbr,
    ),
    ("kubelet", &[Field::Parameters], Effect::OwnParameters),
    (
        "systemd-networkd",
        &[Field::Queues, Field::Routes, Field::Mtu],
        Effect::LinkFiles,
    ),
    (
        "NetworkManager",
        &[Field::Queues, Field::Routes, Field::Mtu],
        Effect::DeviceProfiles,
    ),
    (
        "netifd",
        &[Field::Queues, Field::Routes, Field::Mtu],
        Effect::Ifup,
    ),
];

/// Returns the possible effects of running programs on these settings, one sentence each. Programs
/// in containers count: they share the kernel.
pub fn writers<'a>(settings: impl IntoIterator<Item = &'a Setting>) -> Vec<Text> {
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
        .map(|(name, effect)| sentence(name, effect))
        .collect()
}

fn sentence(program: &'static str, effect: Effect) -> Text {
    text!(
        "{program} runs here, which {effect}",
        program = program,
        effect = effect.text()
    )
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
fn known(comm: &str, written: &[Field]) -> Option<(&'static str, Effect)> {
    let (name, fields, effect) = WRITERS
        .iter()
        .find(|(name, ..)| comm == name.get(..15).unwrap_or(name))?;
    let is_concerned = fields.iter().any(|field| written.contains(field));
    is_concerned.then_some((*name, *effect))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

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
        // As the kernel truncates it.
        assert!(known("systemd-network", &[Field::Queues]).is_some());
    }

    #[test]
    fn a_program_and_its_effect_are_a_sentence() {
        let (name, effect) = known("bpftune", &[Field::Routes]).unwrap();
        assert_eq!(
            sentence(name, effect).to_string(),
            "bpftune runs here, which chooses congestion controls and buffers by itself"
        );
    }
}
