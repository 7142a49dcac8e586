//! A host that boots again: what `tune` wrote to files stays, and what it undid is gone.
//!
//! Each boot is a lab guest with a new kernel; its disk is carried from one to the next. At boot,
//! the real `systemd-sysctl` reads the kernel parameters, and the services' own commands are run.

#![allow(clippy::expect_used)]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use common::{pathtwin, spec, text};

const PATH: &str = "[path]\nrtt = \"2ms\"\nrate = \"100mbit\"\n";
const SYSCTL: &str = "/usr/lib/systemd/systemd-sysctl";

/// Mounts the disk, and does what systemd does at boot.
const BOOT: &str = r#"
set -eu
mkdir -p /tmp/disk
mount -t tmpfs tmpfs /tmp/disk
mkdir -p /tmp/disk/etc/systemd/system /tmp/disk/etc/sysctl.d /tmp/disk/journal
[ -z "$DISK" ] || tar -x -C /tmp/disk -f "$DISK"
mount --bind /tmp/disk/etc /etc
export PATHTWIN_JOURNAL=/tmp/disk/journal
settings() {
    cat /proc/sys/net/ipv4/tcp_ecn
    tc qdisc show dev to-server | cut -d' ' -f2
    ip route show
}
/usr/lib/systemd/systemd-sysctl
for unit in /etc/systemd/system/*.service; do
    [ ! -e "$unit" ] || sh -c "$(sed -n 's/^ExecStart=//p' "$unit")"
done
"#;
/// Prints the disk as the power would leave it: all that was written.
const HALT: &str = r#"
echo DISK
tar -c -C /tmp/disk etc journal | base64 -w0
"#;

/// A host between two boots.
struct Machine {
    folder: tempfile::TempDir,
    spec: PathBuf,
    disk: Option<PathBuf>,
    boots: usize,
}

impl Machine {
    /// A new one, with an empty disk. Guests cannot see this host's /tmp.
    fn new(spec: PathBuf) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        fs::create_dir_all(folder).expect("make a folder");
        Self {
            folder: tempfile::tempdir_in(folder).expect("make a folder"),
            spec,
            disk: None,
            boots: 0,
        }
    }

    /// Boots, runs a script, and cuts the power; returns its output.
    fn boot(&mut self, script: &str) -> String {
        self.boots += 1;
        let file = |name: &str| self.folder.path().join(format!("{}.{name}", self.boots));
        let disk = self.disk.as_ref().map(|d| d.display().to_string());
        let all = format!(
            "DISK={}\nPATHTWIN={}\n{BOOT}\n{script}\n{HALT}",
            disk.unwrap_or_default(),
            env!("CARGO_BIN_EXE_pathtwin"),
        );
        fs::write(file("sh"), all).expect("write a script");
        let output = pathtwin()
            .args(["lab", "exec"])
            .arg(&self.spec)
            .args(["--on", "client", "--", "sh"])
            .arg(file("sh"))
            .output()
            .expect("run pathtwin");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{out}{err}");
        let (out, disk) = out.split_once("DISK\n").expect("a disk");
        let bytes = BASE64_STANDARD.decode(disk.trim()).expect("base64");
        fs::write(file("tar"), bytes).expect("write the disk");
        self.disk = Some(file("tar"));
        out.to_owned()
    }
}

/// A machine, if this host has the programs.
fn machine() -> Option<(tempfile::TempDir, Machine)> {
    if !Path::new(SYSCTL).exists() {
        println!("skipped: needs {SYSCTL}");
        return None;
    }
    let (folder, spec) = spec(PATH);
    Some((folder, Machine::new(spec)))
}

const APPLY: &str = r#"
"$PATHTWIN" tune apply --set net.ipv4.tcp_ecn=1 --queue to-server=fq_codel --window 60s >/dev/null
"#;
const SETTINGS: &str = "settings";

#[test]
fn a_persisted_change_is_there_after_a_boot_and_gone_after_undo_and_a_boot() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let before = machine.boot(SETTINGS);
    assert!(!before.starts_with("1\n"), "{before}");
    assert!(before.contains("\nfq\n"), "{before}");

    let persist = "\"$PATHTWIN\" tune confirm --persist >/dev/null\nsettings";
    let set = machine.boot(&format!("{APPLY}{persist}"));
    assert!(set.starts_with("1\nfq_codel\n"), "{set}");

    assert_eq!(machine.boot(SETTINGS), set, "after the boot");
    let checked = machine.boot("\"$PATHTWIN\" tune list");
    assert!(checked.contains("confirmed"), "{checked}");

    let undo = "id=$(basename /tmp/disk/journal/*.json .json)\n\
                \"$PATHTWIN\" tune undo \"$id\" >/dev/null\nsettings\n\
                find /etc -name '*pathtwin*' | sed 's/^/left /'";
    assert_eq!(machine.boot(undo), before, "nothing is left");
    let left = "settings\nfind /etc -name '*pathtwin*' | sed 's/^/left /'";
    assert_eq!(machine.boot(left), before, "after undo and a boot");
}

#[test]
fn a_change_that_was_pending_when_the_power_was_cut_is_gone_after_the_boot() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let before = machine.boot(SETTINGS);
    let pending = machine.boot(&format!("{APPLY}settings"));
    assert!(pending.starts_with("1\nfq_codel\n"), "{pending}");
    assert_eq!(machine.boot(SETTINGS), before);
    let status = "\"$PATHTWIN\" tune status >/tmp/status || true\nsettings\ncat /tmp/status";
    let status = machine.boot(status);
    let rest = status.strip_prefix(before.as_str()).expect("as before");
    assert!(!rest.contains("not confirmed"), "{rest}");
    // The host is free for the next change.
    let next = machine.boot(&format!("{APPLY}settings"));
    assert_eq!(next, pending);
}

#[test]
fn a_change_confirmed_without_files_ends_with_the_boot() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let before = machine.boot(SETTINGS);
    let confirm = "\"$PATHTWIN\" tune confirm >/dev/null\nsettings";
    let set = machine.boot(&format!("{APPLY}{confirm}"));
    assert!(set.starts_with("1\nfq_codel\n"), "{set}");
    assert_eq!(machine.boot(SETTINGS), before);
}
