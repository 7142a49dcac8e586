//! Devices that ifupdown sets up: those in its configuration (interfaces(5), ifupdown 0.8.41), or
//! in its state under another name.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The program, which may be absent although its folders of scripts are there: other packages have
/// scripts in them.
const PROGRAMS: [&str; 2] = ["sbin/ifup", "usr/sbin/ifup"];

const INTERFACES: &str = "etc/network/interfaces";

/// Returns true if ifupdown is installed and configures a device.
pub(super) fn configures(root: &Path, device: &str) -> bool {
    // In a root that is not the running one, absolute links lead elsewhere.
    let is_there = |program: &&str| fs::symlink_metadata(root.join(program)).is_ok();
    PROGRAMS.iter().any(is_there) && (is_up(root, device) || is_listed(root, device))
}

/// Lines `DEVICE=NAME`: the device is up as the interface of this name, which the configuration may
/// have instead of the device.
fn is_up(root: &Path, device: &str) -> bool {
    let state = fs::read_to_string(root.join("run/network/ifstate")).unwrap_or_default();
    let mut devices = state.lines().filter_map(|line| line.split('=').next());
    devices.any(|name| name.trim() == device)
}

/// Files may name others, and themselves.
fn is_listed(root: &Path, device: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut left = vec![root.join(INTERFACES)];
    while let Some(file) = left.pop() {
        let is_new = file.canonicalize().is_ok_and(|own| seen.insert(own));
        if !is_new || !file.is_file() {
            continue;
        }
        let text = fs::read_to_string(&file)
            .unwrap_or_default()
            .replace("\\\n", " ");
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(key), Some(value)) = (words.next(), words.next()) else {
                continue;
            };
            let named = || match value.strip_prefix('/') {
                Some(path) => root.join(path),
                None => file.with_file_name(value),
            };
            match key {
                "iface" if value == device => return true,
                "source" => left.extend(matching(&named())),
                "source-directory" | "source-dir" => left.extend(in_folder(&named(), is_plain)),
                _ => {}
            }
        }
    }
    false
}

/// The files of a pattern, which may have wildcards in their name but not in their folder.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy();
    match name.contains(['*', '?']) {
        true => in_folder(folder, |file| {
            !file.starts_with('.') && matches(&name, file)
        }),
        false => vec![pattern.to_owned()],
    }
}

fn in_folder(folder: &Path, is_one: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let ones = entries.filter(|entry| is_one(&entry.file_name().to_string_lossy()));
    ones.map(|entry| entry.path()).collect()
}

/// Names that are read of a folder.
fn is_plain(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
    name.bytes().all(plain)
}

fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut read) = (0, 0);
    // The last `*`, and what it has not taken of the name.
    let mut star = None;
    while let Some(byte) = name.get(read) {
        match (pattern.get(at), star) {
            (Some(b'*'), _) => {
                star = Some((at, read));
                at += 1;
            }
            (Some(c), _) if *c == b'?' || c == byte => (at, read) = (at + 1, read + 1),
            (_, Some((last, from))) => {
                star = Some((last, from + 1));
                (at, read) = (last + 1, from + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_configured(files: &[(&str, &str)]) -> bool {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        configures(root.path(), "eth0")
    }

    const IFUP: (&str, &str) = ("usr/sbin/ifup", "");
    const STANZA: &str = "auto eth0\niface eth0 inet dhcp\n";

    #[test]
    fn a_device_is_found_in_every_file_that_ifupdown_reads() {
        let own = |text| (INTERFACES, text);
        for files in [
            vec![own(STANZA)],
            vec![own("iface \\\n eth0 inet6 auto")],
            vec![
                own("source /etc/network/interfaces.d/*\n"),
                ("etc/network/interfaces.d/50-cloud-init", STANZA),
            ],
            vec![
                own("source interfaces.d/*.cfg"),
                ("etc/network/interfaces.d/lan.cfg", STANZA),
            ],
            vec![
                own("source-directory /etc/network/more"),
                ("etc/network/more/lan", STANZA),
            ],
            vec![
                own("iface home inet dhcp"),
                ("run/network/ifstate", "lo=lo\neth0=home\n"),
            ],
        ] {
            assert!(is_configured(&[&files[..], &[IFUP]].concat()), "{files:?}");
        }
    }

    #[test]
    fn other_devices_and_files_that_are_not_read_are_none() {
        let own = |text| (INTERFACES, text);
        for files in [
            vec![own("iface eth0.5 inet dhcp\niface eth inet dhcp\n")],
            vec![own("# iface eth0 inet dhcp\nauto eth0\n")],
            vec![own("source /etc/network/interfaces\n")],
            vec![own(""), ("etc/network/interfaces.d/lan", STANZA)],
            vec![
                own("source interfaces.d/*.cfg"),
                ("etc/network/interfaces.d/lan", STANZA),
            ],
            vec![
                own("source-directory interfaces.d"),
                ("etc/network/interfaces.d/lan.dpkg-old", STANZA),
            ],
        ] {
            assert!(!is_configured(&[&files[..], &[IFUP]].concat()), "{files:?}");
        }
        assert!(!is_configured(&[own(STANZA)]), "ifupdown was removed");
    }

    #[test]
    fn files_that_name_each_other_end_and_no_pattern_takes_long() {
        let many = "source ../network/interfaces\nsource interfaces*\n".repeat(100);
        assert!(!is_configured(&[IFUP, (INTERFACES, &many)]));
        let stars = "*".repeat(100_000);
        for (pattern, name, fits) in [
            (&stars[..], "lan", true),
            ("*a*b", "aab", true),
            ("?*.cfg", ".cfg", false),
            ("l?n", "lan", true),
            ("lan", "lans", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{name}");
        }
    }
}
