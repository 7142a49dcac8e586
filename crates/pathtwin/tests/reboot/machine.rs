//! A machine of the lab that boots several times with one disk.

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::common::{pathtwin, spec, text};

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
pub(crate) struct Machine {
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
    pub(crate) fn boot(&mut self, script: &str) -> String {
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
pub(crate) fn machine() -> Option<(tempfile::TempDir, Machine)> {
    if !Path::new(SYSCTL).exists() {
        println!("skipped: needs {SYSCTL}");
        return None;
    }
    let (folder, spec) = spec(PATH);
    Some((folder, Machine::new(spec)))
}
