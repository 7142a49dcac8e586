//! Files that a tool of configuration management writes, by their header.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use model::change::Setting;

/// The tool for whose files nothing is written, as there is a snippet for it.
pub(crate) const ANSIBLE: &str = "Ansible";

/// Words of the header by which a tool marks a file as its own. They are in any case.
const MANAGERS: [(&str, &str); 5] = [
    ("ansible", ANSIBLE),
    ("puppet", "Puppet"),
    ("chef", "Chef"),
    ("salt", "Salt"),
    ("cloud-init", "cloud-init"),
];

/// Lines of a header.
const HEADER_LINES: usize = 10;

/// Where tools that manage hosts write network settings.
const FOLDERS: [&str; 7] = [
    "etc/sysctl.d",
    "etc/systemd/network",
    "etc/network",
    "etc/network/interfaces.d",
    "etc/netplan",
    "etc/NetworkManager/system-connections",
    "etc/config",
];

/// A file of a tool that names the parameter or the device of a setting.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Managed<'a> {
    /// The file, without the root.
    pub(crate) file: String,
    /// The tool.
    pub(crate) manager: &'static str,
    /// The first such setting.
    pub(crate) setting: &'a Setting,
}

/// The files of tools that name a parameter or a device of the settings, by name.
pub(crate) fn files<'a>(settings: &[&'a Setting], root: &Path) -> Vec<Managed<'a>> {
    let mut files: Vec<PathBuf> = vec![root.join("etc/sysctl.conf")];
    for folder in FOLDERS {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten();
        files.extend(entries.flatten().map(|entry| entry.path()));
    }
    let mut found = BTreeMap::new();
    for path in files {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let named = settings.iter().find(|setting| is_named(&text, setting));
        if let (Some(manager), Some(setting)) = (manager(&text), named) {
            found.insert(shown(root, &path), (manager, *setting));
        }
    }
    let all = found.into_iter();
    all.map(|(file, (manager, setting))| Managed {
        file,
        manager,
        setting,
    })
    .collect()
}

/// A file below the root, as the system names it.
pub(crate) fn shown(root: &Path, file: &Path) -> String {
    let file = file.strip_prefix(root).unwrap_or(file);
    Path::new("/").join(file).display().to_string()
}

/// The tool whose header a text has.
pub(crate) fn manager(text: &str) -> Option<&'static str> {
    let mut header = text.lines().take(HEADER_LINES).map(str::to_lowercase);
    header.find_map(|line| {
        let is_header = line.contains("managed") || line.contains("generated");
        let by = |(word, name): &(&str, &'static str)| line.contains(word).then_some(*name);
        is_header.then(|| MANAGERS.iter().find_map(by)).flatten()
    })
}

/// Parameters are named with dots or slashes; devices are words.
fn is_named(text: &str, setting: &Setting) -> bool {
    let is_word = |name: &str| {
        let apart = |c: char| !c.is_ascii_alphanumeric() && !"._-/".contains(c);
        let mut lines = text.lines().filter(|line| !line.starts_with(['#', ';']));
        lines.any(|line| line.split(apart).any(|word| word == name))
    };
    match (setting, setting.device()) {
        (Setting::Sysctl { name, .. }, _) => is_word(name) || is_word(&name.replace('.', "/")),
        (_, Some(device)) => is_word(device),
        _ => false,
    }
}
