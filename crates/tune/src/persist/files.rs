//! The files of a Change, by the system they are for.

use std::{collections::BTreeMap, path::Path};

use model::change::{
    Change, Setting, SettingFile,
    snippet::{modules, parts},
};

use crate::error::PersistError;

/// System that configures a host at boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// systemd: a service for each device, bound to it.
    Systemd,
    /// ifupdown of Debian without systemd.
    Ifupdown,
    /// procd and hotplug of OpenWrt.
    OpenWrt,
}

impl System {
    /// The system below a root.
    ///
    /// # Errors
    /// It is one whose files are made by other means, or an unknown one.
    pub fn of(root: &Path) -> Result<Self, PersistError> {
        let has = |path: &str| root.join(path).exists();
        if has("etc/NIXOS") {
            return Err(PersistError::Managed("NixOS"));
        }
        if has("etc/openwrt_release") {
            Ok(Self::OpenWrt)
        } else if has("etc/systemd/system") {
            Ok(Self::Systemd)
        } else if has("etc/network/if-up.d") {
            Ok(Self::Ifupdown)
        } else {
            Err(PersistError::UnknownSystem)
        }
    }
}

/// All files of a change, in the order in which they are written.
pub(super) fn of(change: &Change, system: System, root: &Path) -> Vec<SettingFile> {
    let id = change.id.short();
    let settings: Vec<Setting> = change.steps.iter().map(|s| s.setting.clone()).collect();
    let head = format!("# Change {id} of pathtwin; `pathtwin tune undo {id}` removes this file.\n");
    let file = |path: String, text: String| SettingFile {
        path: root.join(path).to_string_lossy().into_owned(),
        text: format!("{head}{text}"),
        link: false,
        executable: false,
    };
    let mut all = Vec::new();
    let names = modules(&settings);
    if !names.is_empty() {
        let path = match system {
            System::OpenWrt => format!("etc/modules.d/98-pathtwin-{id}"),
            _ => format!("etc/modules-load.d/pathtwin-{id}.conf"),
        };
        all.push(file(path, lines(names)));
    }
    let (parameters, _) = parts(&settings);
    if !parameters.is_empty() {
        let line = |(name, value): (&str, &str)| format!("{name} = {value}");
        let text = lines(parameters.into_iter().map(line));
        all.push(file(format!("etc/sysctl.d/98-pathtwin-{id}.conf"), text));
    }
    for (device, commands) in by_device(&settings) {
        all.extend(scripts(id, device, &lines(commands), system, &file));
    }
    all
}

fn lines(all: impl IntoIterator<Item = String>) -> String {
    all.into_iter().map(|line| line + "\n").collect()
}

/// The commands of all but kernel parameters, by their device; without one, those of the host.
fn by_device(settings: &[Setting]) -> BTreeMap<Option<&str>, Vec<String>> {
    let mut all: BTreeMap<Option<&str>, Vec<String>> = BTreeMap::new();
    for setting in settings {
        if !matches!(setting, Setting::Sysctl { .. }) {
            let commands = all.entry(setting.device()).or_default();
            commands.extend(setting.commands());
        }
    }
    all
}

fn scripts(
    id: &str,
    device: Option<&str>,
    commands: &str,
    system: System,
    file: &dyn Fn(String, String) -> SettingFile,
) -> Vec<SettingFile> {
    let part = device.map_or_else(|| "host".to_owned(), plain);
    let script = |path: String, condition: String| {
        let mut script = file(path, format!("{condition}{commands}"));
        script.text = format!("#!/bin/sh\n{}", script.text);
        SettingFile {
            executable: true,
            ..script
        }
    };
    let only = |variable: &str| match device {
        Some(device) => format!("[ \"${variable}\" = \"{device}\" ] || exit 0\n"),
        None => String::new(),
    };
    match system {
        System::Ifupdown => {
            let path = format!("etc/network/if-up.d/pathtwin-{id}-{part}");
            vec![script(path, only("IFACE"))]
        }
        System::OpenWrt => {
            // After the scripts of sqm, which set up the queues of a device again.
            let path = format!("etc/hotplug.d/iface/95-pathtwin-{id}-{part}");
            let up = "[ \"$ACTION\" = ifup ] || exit 0\n".to_owned();
            vec![script(path, up + &only("DEVICE"))]
        }
        System::Systemd => {
            let path = format!("etc/pathtwin/{id}-{part}.sh");
            let name = format!("pathtwin-{id}-{part}.service");
            let target = match device {
                Some(device) => format!("sys-subsystem-net-devices-{}.device", escaped(device)),
                None => "multi-user.target".to_owned(),
            };
            let unit = file(
                format!("etc/systemd/system/{name}"),
                unit(&path, device.map(|_| target.as_str())),
            );
            let wants = file(
                format!("etc/systemd/system/{target}.wants/{name}"),
                String::new(),
            );
            let wants = SettingFile {
                text: format!("../{name}"),
                link: true,
                ..wants
            };
            vec![script(path, String::new()), unit, wants]
        }
    }
}

/// A service that runs a script when its device appears, or when the network is up.
fn unit(script: &str, device: Option<&str>) -> String {
    let order = match device {
        Some(device) => format!("BindsTo={device}\nAfter={device}\n"),
        None => "Wants=network-online.target\nAfter=network-online.target\n".to_owned(),
    };
    format!(
        "[Unit]\nDescription=Network settings of pathtwin\n{order}\n[Service]\nType=oneshot\n\
         RemainAfterExit=yes\nExecStart=/bin/sh /{script}\n"
    )
}

/// A name of a device for the name of a file.
fn plain(device: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c,
        _ => '_',
    };
    device.chars().map(plain).collect()
}

/// A name of a device in the name of a unit (systemd.unit(5), String Escaping for Inclusion in Unit
/// Names).
fn escaped(device: &str) -> String {
    let mut out = String::new();
    for (n, byte) in device.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b':' | b'_' => out.push(byte.into()),
            b'.' if n > 0 => out.push('.'),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out
}
