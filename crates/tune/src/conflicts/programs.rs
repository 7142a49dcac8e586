//! Running programs that write the same settings.

use std::{collections::BTreeMap, fs, path::Path};

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
    Bridges,
    NetlinkBuffer,
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
            Self::Bridges => {
                text!("sets parameters of forwarding and rules of its own whenever it starts")
            }
            Self::NetlinkBuffer => text!("needs a receive buffer of its own size"),
        }
    }

    /// Returns what to do about it.
    fn advice(self) -> Text {
        match self {
            Self::Profile => {
                text!("set it in its profile instead, or turn it off first (`tuned-adm off`)")
            }
            Self::CongestionAndBuffers => text!("stop it first, or leave these to it"),
            Self::Interrupts => {
                text!("stop it first, or exclude the interrupts of the device from it")
            }
            Self::CakeRate | Self::DeviceQueues => {
                text!("change its configuration instead, or stop it first")
            }
            Self::RoutesAndMtu => {
                text!("set the congestion control for the host, and the MTU in its own settings")
            }
            Self::RoutesAndClamp => {
                text!("set the congestion control for the host, and leave the clamp to it")
            }
            Self::QueuesAndBbr | Self::OwnParameters => {
                text!("set it in its own configuration instead, on every node")
            }
            Self::LinkFiles | Self::DeviceProfiles | Self::Ifup => {
                text!("`tune confirm --persist` writes it through this program")
            }
            Self::Bridges => text!("check the settings after its next start (`tune list`)"),
            Self::NetlinkBuffer => text!("keep net.core.rmem_max at 524288 or more"),
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
        "dockerd",
        &[Field::Parameters, Field::Clamp],
        Effect::Bridges,
    ),
    ("nlbwmon", &[Field::Parameters], Effect::NetlinkBuffer),
    (
        "netifd",
        &[Field::Queues, Field::Routes, Field::Mtu],
        Effect::Ifup,
    ),
];

/// Returns the possible effects of running programs on these settings, one sentence each.
pub(super) fn running(settings: &[&Setting]) -> Vec<Text> {
    let written: Vec<Field> = settings.iter().map(|setting| field(setting)).collect();
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let is_process = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
        if !is_process {
            continue;
        }
        for name in names(&entry.path()) {
            if let Some((name, effect)) = known(&name, &written) {
                found.insert(name, effect);
            }
        }
    }
    found
        .into_iter()
        .map(|(name, effect)| sentence(name, effect))
        .collect()
}

/// Interpreters, of which the process may have the name.
const INTERPRETERS: [&str; 6] = ["sh", "bash", "ash", "lua", "luajit", "python3"];

/// Names of a process: its own, and that of the script that it runs.
fn names(process: &Path) -> Vec<String> {
    let read = |file: &str| fs::read_to_string(process.join(file)).unwrap_or_default();
    let mut all = vec![read("comm").trim().to_owned()];
    let line = read("cmdline");
    let mut words = line.split('\0').filter_map(|word| word.rsplit('/').next());
    let is_script = words
        .next()
        .is_some_and(|word| INTERPRETERS.contains(&word));
    all.extend(words.next().filter(|_| is_script).map(str::to_owned));
    for name in &mut all {
        let end = [".sh", ".lua", ".py"]
            .iter()
            .find_map(|end| name.strip_suffix(end));
        if let Some(name_of_script) = end {
            *name = name_of_script.to_owned();
        }
    }
    all
}

fn sentence(program: &'static str, effect: Effect) -> Text {
    text!(
        "{program} runs here, which {effect}; {advice}",
        program = program,
        effect = effect.text(),
        advice = effect.advice()
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

    use std::process::{Command, Stdio};

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
            "bpftune runs here, which chooses congestion controls and buffers by itself; stop it \
             first, or leave these to it"
        );
    }

    /// Each runs under its name, and scripts by an interpreter.
    #[test]
    fn running_programs_are_found_and_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let sleep = ["/bin/sleep", "/usr/bin/sleep"];
        let sleep = sleep.iter().find(|file| Path::new(file).exists()).unwrap();
        let settings = [
            Setting::parse_set("net.core.rmem_max=1", model::change::parse::Scope::Host),
            Setting::parse_queue("lo=pfifo"),
            Setting::parse_mtu("lo=1400"),
            Setting::parse_offload("lo=gro off"),
            Setting::parse_mss_clamp("mtu"),
        ];
        let settings = settings.map(Result::unwrap);
        let settings: Vec<&Setting> = settings.iter().collect();
        let script = folder.path().join("cake-autorate.sh");
        fs::write(&script, "read line\n").unwrap();
        let mut waiting = Command::new("sh");
        waiting.arg(script).stdin(Stdio::piped());
        let mut all = vec![waiting.spawn().unwrap()];
        let names = [
            "tuned",
            "dockerd",
            "nlbwmon",
            "sqm-autorate",
            "irqbalance",
            "netbird",
        ];
        for name in names {
            let program = folder.path().join(name);
            // By another process: a file that this one wrote could still be open in a process that
            // another test started meanwhile, and executing it would fail with `ETXTBSY`.
            let copied = Command::new("cp").arg(sleep).arg(&program).status();
            assert!(copied.unwrap().success());
            all.push(Command::new(program).arg("600").spawn().unwrap());
        }
        let found = (0..100).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let found: Vec<String> = running(&settings).iter().map(Text::to_string).collect();
            let is_found = |name: &&str| found.iter().any(|text| text.starts_with(*name));
            let is_all = names.iter().chain(&["cake-autorate"]).all(is_found);
            is_all.then_some(found)
        });
        for mut process in all {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        for text in found.expect("all are found") {
            assert!(text.contains("; "), "{text}");
        }
    }
}
