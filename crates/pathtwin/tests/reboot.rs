//! A host that boots again: what `tune` wrote to files stays, and what it undid is gone.
//!
//! Each boot is a lab guest with a new kernel and the id of another boot; its disk is carried from
//! one to the next. At boot, a link is set up with its queue and routes, the real `systemd-sysctl`
//! reads the kernel parameters, and the services' own commands are run, all in the namespace of the
//! first process.

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
ip link add up0 address 02:00:00:00:00:01 type veth peer name peer0 address 02:00:00:00:00:02
sysctl -qw net.ipv6.conf.up0.accept_dad=0
ip link set peer0 up
ip link set up0 up
tc qdisc replace dev up0 root handle 1: fq maxrate 900mbit
ip addr add 10.1.0.1/24 dev up0
ip route add 10.9.0.0/16 via 10.1.0.2 mtu lock 1400 advmss 1300 initcwnd 20
mkdir -p /tmp/disk
mount -t tmpfs tmpfs /tmp/disk
mkdir -p /tmp/disk/etc/systemd/system /tmp/disk/etc/sysctl.d /tmp/disk/journal
[ -z "$DISK" ] || tar -x -C /tmp/disk -f "$DISK"
mount --bind /tmp/disk/etc /etc
export PATHTWIN_JOURNAL=/tmp/disk/journal
settings() {
    cat /proc/sys/net/ipv4/tcp_ecn
    tc qdisc show dev up0 | sed 's/ [0-9a-f]*: / /'
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
            // The seed is the kernel's only source of randomness, of which is the id of the boot.
            .args(["--seed", &self.boots.to_string()])
            .args(["--on", "client", "--"])
            // The first process starts this one from the client's namespace, and returns.
            .args(["sh", "-c", "sleep 0.1; exec nsenter -t 1 -n sh \"$0\""])
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
"$PATHTWIN" tune apply --set net.ipv4.tcp_ecn=1 --queue up0=fq_codel \
    --set cc=bbr --scope route:10.9.0.0/16 --window 60s >/dev/null
"#;
const PERSIST: &str = "\"$PATHTWIN\" tune confirm --persist >/dev/null";
const STATUS: &str = "\"$PATHTWIN\" tune status 2>&1 || true";
const UNDO: &str = "id=$(basename /tmp/disk/journal/*.json .json)\n\
                    \"$PATHTWIN\" tune undo \"$id\" >/dev/null";
const SETTINGS: &str = "settings";
/// The settings, and the files that a change has left.
const LEFT: &str = "settings\nfind /etc -name '*pathtwin*' | sed 's/^/left /'";

fn is_set(settings: &str) -> bool {
    let route =
        "10.9.0.0/16 via 10.1.0.2 dev up0 mtu lock 1400 advmss 1300 initcwnd 20 congctl bbr";
    settings.starts_with("1\nqdisc fq_codel ") && settings.contains(route)
}

#[test]
fn each_boot_has_its_own_id_and_the_namespace_of_the_first_process() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let script = "cat /proc/sys/kernel/random/boot_id\n\
                  [ $(readlink /proc/self/ns/net) = $(readlink /proc/1/ns/net) ]";
    let first = machine.boot(script);
    assert_ne!(machine.boot(script), first);
}

#[test]
fn a_persisted_change_is_there_after_a_boot_and_gone_after_undo_and_a_boot() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let before = machine.boot(SETTINGS);
    assert!(!before.starts_with("1\n"), "{before}");
    assert!(before.contains("\nqdisc fq "), "{before}");

    let set = machine.boot(&format!("{APPLY}{PERSIST}\nsettings"));
    assert!(is_set(&set), "{set}");

    assert_eq!(machine.boot(SETTINGS), set, "after the boot");
    let checked = machine.boot("\"$PATHTWIN\" tune list");
    assert!(checked.contains("confirmed"), "{checked}");

    assert_eq!(
        machine.boot(&format!("{UNDO}\n{LEFT}")),
        before,
        "nothing is left"
    );
    assert_eq!(machine.boot(LEFT), before, "after undo and a boot");
}

/// A file that comes later in the order, put there after the change was persisted.
#[test]
fn what_a_later_file_overrides_is_drift_after_a_boot() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let before = machine.boot(SETTINGS);
    let other = "/etc/sysctl.d/99-other.conf";
    let set = machine.boot(&format!(
        "{APPLY}{PERSIST}\nsettings\necho net.ipv4.tcp_ecn = 0 >{other}"
    ));
    assert!(is_set(&set), "{set}");
    const DRIFT: &str = "net.ipv4.tcp_ecn = 1: somebody else has set it to 0";
    const SEEN: &str = "after a boot, its files have set everything";

    let drifted = machine.boot(&format!("{STATUS}\nrm {other}"));
    assert!(drifted.contains(DRIFT), "{drifted}");
    assert_eq!(drifted.matches("somebody else").count(), 1, "{drifted}");
    assert!(!drifted.contains(SEEN), "{drifted}");

    let seen = machine.boot(STATUS);
    assert!(seen.contains(SEEN), "{seen}");
    assert!(!seen.contains("somebody else"), "{seen}");

    let undone = machine.boot(&format!(
        "echo net.ipv4.tcp_ecn = 0 >{other}\n{UNDO}\n{LEFT}"
    ));
    assert_eq!(undone, before, "nothing is left");
    let after = machine.boot(LEFT);
    let rest = |settings: &str| settings.split_once('\n').unwrap().1.to_owned();
    assert!(after.starts_with("0\n"), "the other file stays: {after}");
    assert_eq!(rest(&after), rest(&before), "after undo and a boot");
}

#[test]
fn a_change_that_was_pending_when_the_power_was_cut_is_gone_after_the_boot() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let before = machine.boot(SETTINGS);
    let pending = machine.boot(&format!("{APPLY}settings"));
    assert!(is_set(&pending), "{pending}");
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
    assert!(is_set(&set), "{set}");
    assert_eq!(machine.boot(SETTINGS), before);
}
