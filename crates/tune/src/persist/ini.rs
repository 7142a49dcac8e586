//! Files of sections of `Key=Value` with drop-ins, as systemd reads them (systemd.syntax(7)).

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// Folders of networkd and udev, highest precedence first: a file in one hides those of the same
/// name in the others (systemd.network(5)).
const FOLDERS: [&str; 5] = [
    "etc/systemd/network",
    "run/systemd/network",
    "usr/local/lib/systemd/network",
    "usr/lib/systemd/network",
    "lib/systemd/network",
];

/// A section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) entries: Vec<(String, String)>,
}

/// The sections of a file in order; the same name may occur several times.
pub(super) fn sections(text: &str) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            all.push(Section {
                name: name.to_owned(),
                entries: Vec::new(),
            });
        } else if let (Some(section), Some((key, value))) = (all.last_mut(), line.split_once('=')) {
            let entry = (key.trim().to_owned(), value.trim().to_owned());
            section.entries.push(entry);
        }
    }
    all
}

/// A file and its drop-ins in the order in which they are read: drop-ins by name, regardless of
/// their folder.
pub(super) fn files(root: &Path, file: &Path) -> Vec<PathBuf> {
    let mut by_name: BTreeMap<OsString, PathBuf> = BTreeMap::new();
    let mut folder = file.file_name().unwrap_or_default().to_owned();
    folder.push(".d");
    for place in FOLDERS {
        let entries = fs::read_dir(root.join(place).join(&folder))
            .into_iter()
            .flatten();
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "conf") {
                by_name.entry(entry.file_name()).or_insert(path);
            }
        }
    }
    let mut all = vec![below(root, file)];
    all.extend(by_name.into_values());
    all
}

/// An absolute path below a root.
pub(super) fn below(root: &Path, file: &Path) -> PathBuf {
    root.join(file.strip_prefix("/").unwrap_or(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_the_same_name_stay_apart() {
        let all = sections("# c\n[Route]\nGateway = 1\n\n[Route]\n;x\nGateway=2\nlost\n");
        let gateways: Vec<&str> = all.iter().map(|s| s.entries[0].1.as_str()).collect();
        assert_eq!(gateways, ["1", "2"]);
        assert!(sections("Key=before any section\n").is_empty());
    }
}
