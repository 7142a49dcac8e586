//! The files of a Change, by the system they are for.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use model::change::{
    Change, Setting, SettingFile,
    snippet::{modules, parts},
};

use super::{
    ini,
    names::{self, escaped, plain, quoted},
    networkd,
    owner::Owner,
    system::System,
    uci,
};
use crate::error::PersistError;

/// All files of a change, in the order in which they are written.
///
/// # Errors
/// A file of a device's owner is being changed by somebody else.
pub(super) fn of(change: &Change, system: System, root: &Path) -> Result<Files, PersistError> {
    let id = change.id.short();
    let settings: Vec<Setting> = change.steps.iter().map(|s| s.setting.clone()).collect();
    let new = New { id, root };
    let mut all = Files::default();
    let needed = modules(&settings);
    if !needed.is_empty() {
        let path = match system {
            System::OpenWrt => format!("etc/modules.d/98-pathtwin-{id}"),
            _ => format!("etc/modules-load.d/pathtwin-{id}.conf"),
        };
        all.files.push(new.file(&path, &lines(needed)));
    }
    let (parameters, _) = parts(&settings);
    if !parameters.is_empty() {
        let line = |(name, value): (&str, &str)| format!("{name} = {value}");
        let text = lines(parameters.into_iter().map(line));
        all.files.push(new.file(&names::parameters(id), &text));
    }
    for (device, index, settings) in by_device(change) {
        all.device(&new, system, device, index, settings)?;
    }
    if system == System::OpenWrt {
        all.kept(&new);
    }
    Ok(all)
}

/// The files of a change, and which of them extend files of a device's owner.
#[derive(Default)]
pub(super) struct Files {
    pub(super) files: Vec<SettingFile>,
    /// The owner's file, and ours with its sections.
    pub(super) extended: Vec<(PathBuf, PathBuf, Vec<networkd::Part>)>,
}

impl Files {
    /// Files of others that these extend.
    pub(super) fn of_others(&self, root: &Path) -> Vec<PathBuf> {
        let parts = self.files.iter().filter(|file| file.part);
        let parts = parts.map(|file| PathBuf::from(&file.path));
        let extended = self
            .extended
            .iter()
            .map(|(file, ..)| ini::below(root, file));
        extended.chain(parts).collect()
    }

    /// The files of a device, or of the host: files of its owner for the settings that it supports,
    /// and a script for the others.
    fn device(
        &mut self,
        new: &New<'_>,
        system: System,
        device: Option<&str>,
        index: Option<u32>,
        settings: Vec<&Setting>,
    ) -> Result<(), PersistError> {
        let owner = Owner::of(new.root, system, device, index);
        let mut rest = settings;
        for (file, of) in [
            (&owner.network, networkd::network as fn(&Setting) -> _),
            (&owner.link, networkd::link),
        ] {
            if let Some(file) = file {
                rest = self.extend(new, file, of, rest);
            }
        }
        if let (System::OpenWrt, Some(device)) = (system, device) {
            let (sections, left) = uci::of(new.root, new.id, device, &rest)?;
            self.files
                .extend(sections.iter().map(|section| new.part(section)));
            rest = left;
        }
        let commands: Vec<String> = rest.iter().flat_map(|s| repeatable(s)).collect();
        if !commands.is_empty() {
            let commands = lines(commands);
            let by = match owner.is_ifupdown {
                true => System::Ifupdown,
                false => system,
            };
            self.files.extend(match owner.is_network_manager {
                true => vec![dispatcher(new, device, &commands)],
                false => scripts(new, device, &commands, by),
            });
        }
        Ok(())
    }

    /// Adds a drop-in to an owner's file; returns the settings that it cannot have.
    fn extend<'a>(
        &mut self,
        new: &New<'_>,
        file: &Path,
        of: fn(&Setting) -> Option<Vec<networkd::Part>>,
        settings: Vec<&'a Setting>,
    ) -> Vec<&'a Setting> {
        let (known, rest): (Vec<&Setting>, Vec<&Setting>) =
            settings.into_iter().partition(|s| of(s).is_some());
        let parts: Vec<networkd::Part> = known.into_iter().filter_map(of).flatten().collect();
        if !parts.is_empty() {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let path = format!("etc/systemd/network/{name}.d/98-pathtwin-{}.conf", new.id);
            self.files.push(new.file(&path, &networkd::text(&parts)));
            self.extended
                .push((file.to_owned(), new.root.join(path), parts));
        }
        rest
    }

    /// OpenWrt preserves the files on such a list during an upgrade; the list contains itself.
    fn kept(&mut self, new: &New<'_>) {
        let path = format!("lib/upgrade/keep.d/pathtwin-{}", new.id);
        let own = std::iter::once(format!("/{path}"));
        let below = |file: &SettingFile| {
            let path = Path::new(&file.path).strip_prefix(new.root).ok()?;
            Some(format!("/{}", path.display()))
        };
        let others = self
            .files
            .iter()
            .filter(|file| !file.part)
            .filter_map(below);
        // A list has no comments.
        let text = lines(own.chain(others));
        let mut list = new.file(&path, "");
        list.text = text;
        self.files.push(list);
    }
}

/// New files of a change.
struct New<'a> {
    id: &'a str,
    root: &'a Path,
}

impl New<'_> {
    fn file(&self, path: &str, text: &str) -> SettingFile {
        let id = self.id;
        let head =
            format!("# Change {id} of pathtwin; `pathtwin tune undo {id}` removes this file.");
        let path = self.root.join(path);
        SettingFile {
            text: format!("{head}\n{text}"),
            made_folders: path.ancestors().skip(1).take_while(|f| !f.exists()).count() as u32,
            path: path.to_string_lossy().into_owned(),
            link: false,
            executable: false,
            part: false,
        }
    }

    /// A section at the end of a file of others.
    fn part(&self, section: &uci::New) -> SettingFile {
        SettingFile {
            text: section.text.clone(),
            part: true,
            made_folders: 0,
            ..self.file(section.path, "")
        }
    }

    fn script(&self, path: &str, condition: &str, commands: &str) -> SettingFile {
        let script = self.file(path, &format!("{condition}{commands}"));
        SettingFile {
            text: format!("#!/bin/sh\n{}", script.text),
            executable: true,
            ..script
        }
    }
}

fn lines(all: impl IntoIterator<Item = String>) -> String {
    all.into_iter().map(|line| line + "\n").collect()
}

/// Removes the intermediate devices of devices that are gone.
const NO_LEFTOVERS: &str = "for i in /sys/class/net/pt-ifb*; do grep -qx \"${i##*pt-ifb}\" \
    /sys/class/net/*/ifindex || ip link del \"${i##*/}\"; done 2>/dev/null";

/// The commands of a setting for a script that may run again: without a device, whenever any device
/// comes up. A rule of nf_tables is added each time.
fn repeatable(setting: &Setting) -> Vec<String> {
    let first = match setting {
        Setting::MssClamp { .. } => Some("nft delete table inet pathtwin 2>/dev/null || true"),
        Setting::Ingress { .. } => Some(NO_LEFTOVERS),
        _ => None,
    };
    let first = first.map(str::to_owned).into_iter();
    first.chain(setting.commands()).collect()
}

/// A device with its index, and its settings; without a device, the host.
type OfDevice<'a> = (Option<&'a str>, Option<u32>, Vec<&'a Setting>);

/// The settings of all but kernel parameters and modules, by their device.
fn by_device(change: &Change) -> Vec<OfDevice<'_>> {
    let mut all: BTreeMap<Option<&str>, (Option<u32>, Vec<&Setting>)> = BTreeMap::new();
    for step in &change.steps {
        let setting = &step.setting;
        if !matches!(setting, Setting::Sysctl { .. } | Setting::Module { .. }) {
            let of = all.entry(setting.device()).or_default();
            of.0 = step.link;
            of.1.push(setting);
        }
    }
    let flat = |(device, (index, settings))| (device, index, settings);
    all.into_iter().map(flat).collect()
}

/// A script that NetworkManager runs whenever it has set a device up
/// (NetworkManager-dispatcher(8)): the device is its first argument, the event its second.
fn dispatcher(new: &New<'_>, device: Option<&str>, commands: &str) -> SettingFile {
    let part = device.map_or_else(|| "host".to_owned(), plain);
    let of_device = device.map_or_else(String::new, |device| {
        format!("[ \"$1\" = {} ] || exit 0\n", quoted(device))
    });
    let on = "case \"$2\" in up|dhcp4-change|dhcp6-change|reapply) ;; *) exit 0 ;; esac\n";
    let path = format!(
        "etc/NetworkManager/dispatcher.d/98-pathtwin-{}-{part}",
        new.id
    );
    new.script(&path, &format!("{of_device}{on}"), commands)
}

/// `ifup` gives an interface up when one of its scripts fails, as that for a route does before its
/// device is up.
const NEVER_FAILS: &str = "exit 0\n";

fn scripts(
    new: &New<'_>,
    device: Option<&str>,
    commands: &str,
    system: System,
) -> Vec<SettingFile> {
    let id = new.id;
    let part = device.map_or_else(|| "host".to_owned(), plain);
    let only = |variable: &str| match device {
        Some(device) => format!("[ \"${variable}\" = {} ] || exit 0\n", quoted(device)),
        None => String::new(),
    };
    match system {
        System::Ifupdown => {
            let path = format!("etc/network/if-up.d/pathtwin-{id}-{part}");
            let commands = format!("{commands}{NEVER_FAILS}");
            vec![new.script(&path, &only("IFACE"), &commands)]
        }
        System::OpenWrt => {
            // After the scripts of sqm, which reset the queues of a device.
            let path = format!("etc/hotplug.d/iface/95-pathtwin-{id}-{part}");
            let up = "[ \"$ACTION\" = ifup ] || exit 0\n".to_owned();
            vec![new.script(&path, &(up + &only("DEVICE")), commands)]
        }
        System::Systemd => {
            let path = format!("etc/pathtwin/{id}-{part}.sh");
            let name = format!("pathtwin-{id}-{part}.service");
            let device = device
                .filter(|_| has_device_units(new.root))
                .map(|device| format!("sys-subsystem-net-devices-{}.device", escaped(device)));
            let unit = new.file(
                &format!("etc/systemd/system/{name}"),
                &unit(&path, device.as_deref()),
            );
            let target = device.unwrap_or_else(|| "multi-user.target".to_owned());
            let wants = new.file(&format!("etc/systemd/system/{target}.wants/{name}"), "");
            let wants = SettingFile {
                text: format!("../{name}"),
                link: true,
                ..wants
            };
            vec![new.script(&path, "", commands), unit, wants]
        }
    }
}

/// Units of devices exist where udev runs, which it does not in most containers: a service bound to
/// one would never start there (systemd 252, src/libsystemd/sd-device/device-monitor.c: without
/// this socket, no device is reported).
fn has_device_units(root: &Path) -> bool {
    root.join("run/udev/control").exists()
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
