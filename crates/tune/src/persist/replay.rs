//! Value of a kernel parameter after the next boot, from all files in the system's order.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::system::System;

/// Folders of systemd-sysctl, highest precedence first: a file in one hides those of the same name
/// in the others (sysctl.d(5)).
const FOLDERS: [&str; 5] = [
    "etc/sysctl.d",
    "run/sysctl.d",
    "usr/local/lib/sysctl.d",
    "usr/lib/sysctl.d",
    "lib/sysctl.d",
];

/// Last setting of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Last {
    pub(crate) value: String,
    pub(crate) file: String,
}

/// Returns the last setting of a parameter at boot; `None` if no file sets it.
pub(super) fn effective(root: &Path, system: System, name: &str) -> Option<Last> {
    last(files(root, system, None), name)
}

/// Returns the last setting of a parameter in the files that are read after `own`, which may not
/// exist yet.
pub(super) fn after(root: &Path, system: System, own: &Path, name: &str) -> Option<Last> {
    let all = files(root, system, Some(own)).into_iter();
    last(all.skip_while(|file| file != own).skip(1), name)
}

fn last(files: impl IntoIterator<Item = PathBuf>, name: &str) -> Option<Last> {
    let mut last = None;
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        for (key, value) in text.lines().filter_map(assignment) {
            if matches(&key, name) {
                last = Some(Last {
                    value,
                    file: file.display().to_string(),
                });
            }
        }
    }
    last
}

/// All files in the order in which they are read, with one that may not exist yet.
fn files(root: &Path, system: System, own: Option<&Path>) -> Vec<PathBuf> {
    let mut by_name: BTreeMap<std::ffi::OsString, PathBuf> = BTreeMap::new();
    if let Some(own) = own {
        by_name.insert(own.file_name().unwrap_or_default().into(), own.to_owned());
    }
    let folders = match system {
        // `/etc/init.d/sysctl` reads this folder alone, and then sysctl.conf.
        System::OpenWrt => &FOLDERS[..1],
        _ => &FOLDERS[..],
    };
    for folder in folders {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten();
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "conf") {
                by_name.entry(entry.file_name()).or_insert(path);
            }
        }
    }
    let mut all: Vec<PathBuf> = by_name.into_values().collect();
    if system != System::Systemd {
        // procps and OpenWrt read it last; systemd only where it is linked from the folder.
        all.push(root.join("etc/sysctl.conf"));
    }
    all
}

/// A line `key = value`, `-key = value`, or the meaningless `key value`. The separator of a key is
/// a dot or a slash, whichever is first.
fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    if line.starts_with(['#', ';']) {
        return None;
    }
    let (key, value) = line.split_once('=')?;
    let key = key.trim().trim_start_matches('-').trim();
    let first = key.find(['.', '/']).map(|at| &key[at..=at]);
    let key = match first {
        Some("/") => key
            .replace('.', "\u{1}")
            .replace('/', ".")
            .replace('\u{1}', "/"),
        _ => key.to_owned(),
    };
    Some((key, value.trim().to_owned()))
}

/// Returns true if a key, which may have `*` for a part of a name, matches a parameter.
fn matches(key: &str, name: &str) -> bool {
    let (key, name): (Vec<&str>, Vec<&str>) = (key.split('.').collect(), name.split('.').collect());
    key.len() == name.len() && key.iter().zip(&name).all(|(k, n)| *k == "*" || k == n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const CC: &str = "net.ipv4.tcp_congestion_control";

    fn value(files: &[(&str, &str)], system: System) -> Option<String> {
        effective(tree(files).path(), system, CC).map(|last| last.value)
    }

    /// sysctl.d(5): sorted by name, regardless of the folder; a file in /etc hides one of the same
    /// name in /usr.
    #[test]
    fn files_are_read_by_name_and_those_of_etc_hide_the_others() {
        let files = [
            (
                "etc/sysctl.d/50-a.conf",
                "net.ipv4.tcp_congestion_control = reno",
            ),
            (
                "usr/lib/sysctl.d/90-b.conf",
                "net/ipv4/tcp_congestion_control=cubic",
            ),
        ];
        assert_eq!(value(&files, System::Systemd).as_deref(), Some("cubic"));
        let hidden = [files[0], files[1], ("etc/sysctl.d/90-b.conf", "# nothing")];
        assert_eq!(value(&hidden, System::Systemd).as_deref(), Some("reno"));
    }

    /// The package kmod-tcp-bbr contains 12-tcp-bbr.conf, and a user's sysctl.conf overrides all.
    #[test]
    fn sysctl_conf_is_the_last_on_openwrt_and_none_of_systemd() {
        let files = [
            (
                "etc/sysctl.d/12-tcp-bbr.conf",
                "net.ipv4.tcp_congestion_control=bbr",
            ),
            (
                "etc/sysctl.conf",
                "-net.ipv4.tcp_congestion_control = cubic",
            ),
        ];
        assert_eq!(value(&files, System::OpenWrt).as_deref(), Some("cubic"));
        assert_eq!(value(&files, System::Systemd).as_deref(), Some("bbr"));
    }

    #[test]
    fn comments_and_other_parameters_are_none() {
        let files = [(
            "etc/sysctl.d/1.conf",
            "# net.ipv4.tcp_congestion_control = a\n;net.ipv4.tcp_congestion_control = b\n\
             net.ipv4.tcp_congestion_control_x = c\nnet.ipv4.tcp_congestion_control",
        )];
        assert_eq!(value(&files, System::Systemd), None);
        assert!(matches(
            "net.ipv4.conf.*.rp_filter",
            "net.ipv4.conf.eth0.rp_filter"
        ));
    }
}
