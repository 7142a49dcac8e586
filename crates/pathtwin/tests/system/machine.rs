//! A host whose first process is the real systemd, in namespaces of this one. Its disk is a folder,
//! which is carried from boot to boot.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use crate::common::text;

const SYSTEMD: &str = "/lib/systemd/systemd";
const NETWORKD: &str = "/lib/systemd/systemd-networkd";

/// Starts the host in a control group of its own: those of the same name of two hosts that run at
/// the same time would be one.
const START: &str = r#"
set -eu
mkdir -p "$1/groups"
mount -t cgroup2 cgroup2 "$1/groups"
own=$1/groups$(sed -n 's/^0:://p' /proc/self/cgroup)
host=$own/pathtwin-$$
mkdir "$host"
sh -c 'echo $$ >"$0/cgroup.procs"; exec unshare --mount --pid --net --ipc --uts --cgroup --fork \
    --kill-child sh -c "$@"' "$host" "$BOOT" boot "$1" "$2" "$3" || true
find "$host" -depth -type d -exec rmdir {} +
"#;

/// Makes the host's root of the disk, a read-only /usr and new kernel file systems, and becomes its
/// first process. `$1` is the disk, `$2` the program under test, `$3` `machine` or `container`.
///
/// systemd watches devices only where udev's socket exists as it starts (systemd 252,
/// src/libsystemd/sd-device/device-monitor.c), or where /dev is that of the kernel.
const BOOT: &str = r#"
set -eu
root=$1/root
mkdir -p "$root"
mount --make-rprivate /
mount -t tmpfs tmpfs "$root"
cd "$root"
mkdir usr etc var run proc sys dev tmp old opt
for link in bin sbin lib lib32 lib64 libx32; do
    [ ! -e "/usr/$link" ] || ln -s "usr/$link" "$link"
done
mount --rbind -r /usr usr
mount --bind "$1/etc" etc
mount --bind "$1/var" var
touch opt/pathtwin
mount --bind "$2" opt/pathtwin
mount -t tmpfs tmpfs run
mount -t proc proc proc
access=rw
[ "$3" != container ] || access=ro
mount -t sysfs -o "$access" sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs dev
for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance devpts dev/pts
ln -s pts/ptmx dev/ptmx
cat /proc/sys/kernel/random/uuid >boot_id
mount --bind boot_id proc/sys/kernel/random/boot_id
[ "$access" = ro ] || { mkdir run/udev; touch run/udev/control; }
ip link set lo up
ip link add up0 address 02:00:00:00:00:01 type veth peer name peer0 address 02:00:00:00:00:02
ip link set peer0 up
# Of nobody, with several queues.
ip link add up1 address 02:00:00:00:00:03 numtxqueues 4 numrxqueues 4 \
    type veth peer name peer1 address 02:00:00:00:00:04 numtxqueues 4 numrxqueues 4
ip link set peer1 up
ip link set up1 up
pivot_root . old
umount -l old
# As container managers do it: systemd hands files to services by mounts of this root.
mount --make-rshared /
exec env -i container=other PATH=/usr/sbin:/usr/bin \
    /lib/systemd/systemd --system --log-target=journal --show-status=false
"#;

/// Runs when the host is up, and switches it off.
const SCRIPT: &str = "[Unit]
Description=Script of a test
Wants=network-online.target
After=network-online.target multi-user.target
[Service]
Type=oneshot
Environment=PATH=/opt:/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=/bin/sh -c 'exec sh /etc/script.sh >/var/output 2>&1'
ExecStopPost=/bin/systemctl start --no-block poweroff.target
TimeoutStartSec=90
";
/// Instead of udev's own service for all devices of the kernel, which are those of this host.
const TRIGGER: &str = "[Unit]
DefaultDependencies=no
Wants=systemd-udevd.service
After=systemd-udevd.service
Before=sysinit.target
[Service]
Type=oneshot
ExecStart=/bin/udevadm trigger --action=add --subsystem-match=net
# On a busy machine a device came after the script, and its service with it.
ExecStart=/bin/udevadm settle
";
const NETWORK: &str = "[Match]
Name=up0
[Network]
Address=10.1.0.1/24
LinkLocalAddressing=no
IPv6AcceptRA=no
[Route]
Destination=10.9.0.0/16
Gateway=10.1.0.2
";
/// Services for hardware, terminals and file systems, which the host does not have.
const MASKED: [&str; 8] = [
    "systemd-udev-trigger.service",
    "getty.target",
    "systemd-update-utmp.service",
    "dev-hugepages.mount",
    "dev-mqueue.mount",
    "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount",
    "sys-fs-fuse-connections.mount",
];

/// What starts devices.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Devices {
    /// udev, as on a machine.
    Udev,
    /// Nothing, as in most containers.
    Container,
}

/// A host between two boots.
pub(crate) struct System {
    disk: tempfile::TempDir,
    devices: Devices,
}

impl System {
    /// A new one, with a device `up0` of networkd. `None` where the test cannot run: an ordinary
    /// user cannot give a first process its control groups.
    pub(crate) fn new(devices: Devices) -> Option<Self> {
        let programs = [SYSTEMD, NETWORKD, "/bin/udevadm"];
        if let Some(missing) = programs.iter().find(|path| !Path::new(path).exists()) {
            println!("skipped: needs {missing}");
            return None;
        }
        if !rustix::process::geteuid().is_root() {
            println!("skipped: needs root");
            return None;
        }
        // Root of a container may lack the privileges.
        let try_all = [
            "--mount", "--pid", "--net", "--cgroup", "--fork", "sh", "-c",
        ];
        let groups = "mount -t cgroup2 cgroup2 /mnt && test -w /mnt/cgroup.procs";
        let tried = Command::new("unshare").args(try_all).arg(groups).output();
        if !tried.is_ok_and(|tried| tried.status.success()) {
            println!("skipped: needs namespaces and control groups of version 2");
            return None;
        }
        let disk = tempfile::tempdir().expect("make a folder");
        let system = Self { disk, devices };
        system.install();
        Some(system)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.disk.path().join(path)
    }

    pub(crate) fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("make a folder");
        fs::write(path, text).expect("write a file");
    }

    /// A service that is started at boot.
    pub(crate) fn enabled(&self, unit: &str, target: &str, by: &str) {
        let wants = self.path(&format!("etc/systemd/system/{by}.wants"));
        fs::create_dir_all(&wants).expect("make a folder");
        symlink(target, wants.join(unit)).expect("make a link");
    }

    fn install(&self) {
        let vendor = "/usr/lib/systemd/system";
        fs::create_dir_all(self.path("var/lib")).expect("make a folder");
        self.file("etc/hostname", "host\n");
        self.file("etc/machine-id", "");
        for file in ["passwd", "group", "nsswitch.conf", "ld.so.cache"] {
            let to = self.path(&format!("etc/{file}"));
            fs::copy(format!("/etc/{file}"), to).expect("copy a file");
        }
        let units = self.path("etc/systemd/system");
        fs::create_dir_all(&units).expect("make a folder");
        for unit in MASKED {
            symlink("/dev/null", units.join(unit)).expect("make a link");
        }
        let default = units.join("default.target");
        symlink(format!("{vendor}/multi-user.target"), default).expect("make a link");
        self.file("etc/systemd/system/script.service", SCRIPT);
        self.enabled("script.service", "../script.service", "multi-user.target");
        for (unit, by) in [
            ("systemd-networkd.service", "multi-user.target"),
            (
                "systemd-networkd-wait-online.service",
                "network-online.target",
            ),
        ] {
            self.enabled(unit, &format!("{vendor}/{unit}"), by);
        }
        self.file("etc/systemd/network/10-up0.network", NETWORK);
        // Its services need a /sys that can be written.
        if self.devices == Devices::Udev {
            self.file("etc/systemd/system/trigger.service", TRIGGER);
            self.enabled("trigger.service", "../trigger.service", "sysinit.target");
        }
    }

    /// Boots, runs a script, and switches off; returns its output.
    pub(crate) fn boot(&self, script: &str) -> String {
        self.file("etc/script.sh", script);
        let output = Command::new("timeout")
            .args([
                "-k", "5", "120", "unshare", "--mount", "sh", "-c", START, "start",
            ])
            .arg(self.disk.path())
            .arg(env!("CARGO_BIN_EXE_pathtwin"))
            .arg(match self.devices {
                Devices::Udev => "machine",
                Devices::Container => "container",
            })
            .env("BOOT", BOOT)
            .output()
            .expect("run unshare");
        let said = fs::read_to_string(self.path("var/output")).unwrap_or_default();
        // The first process ends by a signal when it switches the host off.
        let is_late = matches!(output.status.code(), Some(124 | 137));
        assert!(!is_late, "never off: {said}");
        let err = text(&output.stderr);
        assert!(self.path("var/output").exists(), "did not boot: {err}");
        fs::remove_file(self.path("var/output")).expect("remove a file");
        said
    }
}
