//! Files of other tools that set the same parameters or devices.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use model::{
    change::{CONGESTION_CONTROL, Setting},
    text,
    text::Text,
};

/// Words of the header by which a tool marks a file as its own. They are in any case.
const MANAGERS: [(&str, &str); 5] = [
    ("ansible", "Ansible"),
    ("puppet", "Puppet"),
    ("chef", "Chef"),
    ("salt", "Salt"),
    ("cloud-init", "cloud-init"),
];

/// Lines of a header.
const HEADER_LINES: usize = 10;

/// Where tools that manage hosts write network settings.
const FOLDERS: [&str; 6] = [
    "etc/sysctl.d",
    "etc/systemd/network",
    "etc/network",
    "etc/network/interfaces.d",
    "etc/netplan",
    "etc/config",
];

pub(super) fn others(settings: &[&Setting], root: &Path) -> Vec<Text> {
    let mut all: Vec<Text> = settings.iter().filter_map(|s| sqm(s, root)).collect();
    all.extend(turboacc(settings, root));
    all.extend(managed(settings, root));
    all
}

/// The scripts of SQM keep a file for each device that they have set up
/// (sqm-scripts: `defaults.sh`, SQM_STATE_DIR).
fn sqm(setting: &Setting, root: &Path) -> Option<Text> {
    let (Setting::Queue { device, .. } | Setting::Ingress { device, .. }) = setting else {
        return None;
    };
    let state = root.join("var/run/sqm").join(format!("{device}.state"));
    state.exists().then(|| {
        text!(
            "sqm has set up {device} and does so again at every ifup; change its rate in \
             /etc/config/sqm or /etc/sqm instead, or disable it there first",
            device = device
        )
    })
}

fn turboacc(settings: &[&Setting], root: &Path) -> Option<Text> {
    let is_its = |setting: &&Setting| match setting {
        Setting::Sysctl { name, .. } => name == CONGESTION_CONTROL,
        Setting::Offload { .. } => true,
        _ => false,
    };
    let is_there = root.join("etc/config/turboacc").exists();
    (is_there && settings.iter().any(is_its)).then(|| {
        text!(
            "turboacc is installed, which sets bbr and offloads at boot and at every change of its \
             page; set them there, or remove it first"
        )
    })
}

/// Files with the header of a tool that name a parameter or a device of the settings.
fn managed(settings: &[&Setting], root: &Path) -> Vec<Text> {
    let mut files: Vec<PathBuf> = vec![root.join("etc/sysctl.conf")];
    for folder in FOLDERS {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten();
        files.extend(entries.flatten().map(|entry| entry.path()));
    }
    let mut found = BTreeMap::new();
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        let Some(manager) = manager(&text) else {
            continue;
        };
        if let Some(setting) = settings.iter().find(|setting| is_named(&text, setting)) {
            let shown = file.strip_prefix(root).unwrap_or(&file);
            let shown = Path::new("/").join(shown).display().to_string();
            found.insert(shown, (manager, *setting));
        }
    }
    let sentence = |(file, (manager, setting)): (String, (&'static str, &Setting))| {
        text!(
            "{file} is managed by {manager}, which sets it again ({setting}); change it there: \
             --dry-run --snippet prints the text",
            file = file,
            manager = manager,
            setting = setting
        )
    };
    found.into_iter().map(sentence).collect()
}

/// The tool whose header a file has.
pub(super) fn manager(text: &str) -> Option<&'static str> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::change::parse::Scope;

    use super::*;

    fn found(file: &str, text: &str, setting: &Setting) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        let all = others(&[setting], root.path());
        all.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_managed_by_another_tool_are_named_with_what_to_do() {
        let ecn = Setting::parse_set("net.ipv4.tcp_ecn=1", Scope::Host).unwrap();
        let mtu = Setting::parse_mtu("eth0=1400").unwrap();
        let cases = [
            (
                "etc/sysctl.d/90-x.conf",
                "# Ansible managed\nnet.ipv4.tcp_ecn = 0\n",
                &ecn,
                "Ansible",
            ),
            (
                "etc/sysctl.conf",
                "# This file is managed by Puppet.\nnet/ipv4/tcp_ecn=0\n",
                &ecn,
                "Puppet",
            ),
            (
                "etc/systemd/network/e.network",
                "# Managed by Salt\n[Match]\nName=eth0\n",
                &mtu,
                "Salt",
            ),
        ];
        for (file, text, setting, manager) in cases {
            let all = found(file, text, setting);
            assert_eq!(all.len(), 1, "{file}: {all:?}");
            for part in [file, manager, "change it there"] {
                assert!(all[0].contains(part), "{all:?}");
            }
        }
        // Of the user, about another parameter, or in a comment.
        for text in [
            "net.ipv4.tcp_ecn = 0\n",
            "# Ansible managed\nnet.ipv4.tcp_ecn_fallback = 0\n",
            "# Ansible managed\n# net.ipv4.tcp_ecn = 0\n",
        ] {
            assert!(
                found("etc/sysctl.d/x.conf", text, &ecn).is_empty(),
                "{text}"
            );
        }
    }

    #[test]
    fn sqm_and_turboacc_are_named_for_what_they_set() {
        let shape = Setting::parse_shape("wan=9mbit").unwrap();
        let all = found("var/run/sqm/wan.state", "", &shape);
        assert!(all[0].contains("/etc/config/sqm"), "{all:?}");
        assert!(found("var/run/sqm/lan.state", "", &shape).is_empty());
        let bbr = Setting::parse_set("cc=bbr", Scope::Host).unwrap();
        let all = found("etc/config/turboacc", "", &bbr);
        assert!(all[0].contains("turboacc"), "{all:?}");
        assert!(found("etc/config/turboacc", "", &shape).is_empty());
    }
}
