//! Files of other tools that set the same parameters or devices.

use std::path::Path;

use model::{
    change::{CONGESTION_CONTROL, Setting},
    text,
    text::Text,
};

use crate::managed::{self, Managed};

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
    let sentence = |found: Managed<'_>| {
        text!(
            "{file} is managed by {manager}, which sets it again ({setting}); change it there: \
             --dry-run --snippet prints the text",
            file = found.file,
            manager = found.manager,
            setting = found.setting
        )
    };
    let all = managed::files(settings, root);
    all.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

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
