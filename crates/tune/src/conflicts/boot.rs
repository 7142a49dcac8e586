//! Files that set a parameter at boot after the file that a change is written to.

use std::{fs, path::Path};

use model::{change::Change, text, text::Text};

use crate::{managed::manager, persist};

/// Parameters whose new value would not survive a boot. Files that another tool manages have a
/// sentence of their own.
pub(super) fn later(change: &Change, root: &Path) -> Vec<Text> {
    let mut later = persist::later(change, root);
    later.retain(|(_, last)| {
        let text = fs::read_to_string(root.join(last.file.trim_start_matches('/')));
        text.is_ok_and(|text| manager(&text).is_none())
    });
    let sentence = |(name, last): (String, persist::Last)| {
        text!(
            "at boot {file} sets {name} to {value}, after the file that `tune confirm --persist` \
             writes; remove that line first, so that the new value survives a boot",
            file = last.file,
            name = name,
            value = last.value
        )
    };
    later.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::change::{Setting, parse::Scope};

    use super::*;
    use crate::fake;

    /// The notes about a new value of `tcp_ecn`, where these files are.
    fn notes(system: &str, files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in [(system, "")].iter().chain(files) {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let ecn = Setting::parse_set("net.ipv4.tcp_ecn=1", Scope::Host).unwrap();
        let all = later(&fake::confirmed([ecn]), root.path());
        all.iter().map(ToString::to_string).collect()
    }

    const SYSTEMD: &str = "etc/systemd/system/x";
    const OPENWRT: &str = "etc/openwrt_release";

    #[test]
    fn a_later_file_with_another_value_is_named_before_anything_is_changed() {
        let ecn = "net.ipv4.tcp_ecn = 0\n";
        for (system, file) in [
            (SYSTEMD, "etc/sysctl.d/99-hardening.conf"),
            (SYSTEMD, "usr/lib/sysctl.d/99-hardening.conf"),
            (OPENWRT, "etc/sysctl.conf"),
        ] {
            let all = notes(system, &[(file, ecn)]);
            assert_eq!(all.len(), 1, "{file}: {all:?}");
            for part in [&format!("/{file}"), "tcp_ecn to 0", "remove that line"] {
                assert!(all[0].contains(part), "{all:?}");
            }
        }
    }

    #[test]
    fn files_that_do_not_override_the_change_have_no_note() {
        let ecn = "net.ipv4.tcp_ecn = 0\n";
        for (file, text) in [
            ("etc/sysctl.d/10-earlier.conf", ecn),
            ("etc/sysctl.d/99-same.conf", "net.ipv4.tcp_ecn=1\n"),
            (
                "etc/sysctl.d/99-other.conf",
                "net.ipv4.tcp_ecn_fallback = 0\n",
            ),
            ("etc/sysctl.d/99-comment.conf", "# net.ipv4.tcp_ecn = 0\n"),
            // systemd does not read it.
            ("etc/sysctl.conf", ecn),
        ] {
            assert!(notes(SYSTEMD, &[(file, text)]).is_empty(), "{file}");
        }
        // One of the same name in /etc hides it.
        let files = [
            ("usr/lib/sysctl.d/99-a.conf", ecn),
            ("etc/sysctl.d/99-a.conf", ""),
        ];
        assert!(notes(SYSTEMD, &files).is_empty());
        // The tool that manages it is named by itself.
        let managed = format!("# Ansible managed\n{ecn}");
        assert!(notes(SYSTEMD, &[("etc/sysctl.d/99-a.conf", &managed)]).is_empty());
    }
}
