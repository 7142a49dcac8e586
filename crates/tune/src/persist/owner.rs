//! Owner of a device's settings: the program that sets the device up, according to its state in
//! /run, and of ifupdown according to its files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{ifupdown, ini, system::System};

/// The programs that set a device up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Owner {
    /// The `.network` file of the device, if networkd manages it and the file is for it alone.
    pub(super) network: Option<PathBuf>,
    /// The `.link` file that udev applied to the device, if it is for it alone.
    pub(super) link: Option<PathBuf>,
    /// True if NetworkManager manages the device.
    pub(super) is_network_manager: bool,
    /// True if ifupdown sets the device up, and neither of the others does. It may set an MTU and
    /// offloads at every ifup, later than udev.
    pub(super) is_ifupdown: bool,
}

impl Owner {
    /// The owner of the device with a name and an index; otherwise the default of the system.
    pub(super) fn of(
        root: &Path,
        system: System,
        device: Option<&str>,
        index: Option<u32>,
    ) -> Self {
        let (System::Systemd, Some(device), Some(index)) = (system, device, index) else {
            return Self::default();
        };
        let network = network_file(root, index);
        let is_network_manager = is_network_managers(root, index);
        if network.is_none() && !is_network_manager && ifupdown::configures(root, device) {
            return Self {
                is_ifupdown: true,
                ..Self::default()
            };
        }
        Self {
            network: network.filter(|file| is_of_one_device(root, file)),
            link: link_file(root, index).filter(|file| is_of_one_device(root, file)),
            is_network_manager,
            is_ifupdown: false,
        }
    }
}

/// `NETWORK_FILE=` in networkd's state of a link (systemd 252, src/network/networkd-state-file.c);
/// absent for links that it does not manage.
fn network_file(root: &Path, index: u32) -> Option<PathBuf> {
    let state = root.join(format!("run/systemd/netif/links/{index}"));
    value_of(&state, "NETWORK_FILE=")
}

/// `ID_NET_LINK_FILE` of udev's database (systemd 252, src/udev/udev-builtin-net_setup_link.c).
fn link_file(root: &Path, index: u32) -> Option<PathBuf> {
    let state = root.join(format!("run/udev/data/n{index}"));
    value_of(&state, "E:ID_NET_LINK_FILE=")
}

fn value_of(file: &Path, key: &str) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    (!value.is_empty()).then(|| PathBuf::from(value))
}

/// `managed=` in NetworkManager's state of a device (NetworkManager 1.42, src/core/nm-config.c:
/// `nm_config_device_state_load`).
fn is_network_managers(root: &Path, index: u32) -> bool {
    let state = root.join(format!("run/NetworkManager/devices/{index}"));
    let text = fs::read_to_string(state).unwrap_or_default();
    text.lines().any(|line| line.trim() == "managed=true")
}

/// True if a file names one device by its name, address or bus. A file for all devices, such as
/// `99-default.link`, cannot be extended for one of them.
fn is_of_one_device(root: &Path, file: &Path) -> bool {
    let text = fs::read_to_string(ini::below(root, file)).unwrap_or_default();
    let sections = ini::sections(&text);
    let matches = sections.iter().filter(|section| section.name == "Match");
    let mut keys = matches.flat_map(|section| &section.entries);
    keys.any(|(key, value)| {
        let names_one = !value.is_empty() && !value.contains(['*', '?', '[', '!', ' ']);
        let identifies = matches!(
            key.as_str(),
            "Name" | "OriginalName" | "MACAddress" | "PermanentMACAddress" | "Path"
        );
        identifies && names_one
    })
}
