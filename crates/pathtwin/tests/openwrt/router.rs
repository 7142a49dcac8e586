//! A router with OpenWrt's files, in namespaces of this host. Its flash is a folder, which is
//! carried from boot to boot.
//!
//! The shell and the small commands are BusyBox's; what starts a router is written for this test,
//! after OpenWrt's own scripts. `uci` is the real one.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use crate::common::text;

/// Makes a root of the flash, with new kernel file systems and two devices, and starts `init` in it
/// as its first process. `$1` is the flash, `$2` the program under test, `$3` the script.
const BOOT: &str = r#"
set -eu
cd "$1"
mount --make-rprivate /
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs tmpfs tmp
mount -t tmpfs tmpfs dev
for device in null zero random urandom; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
mount --bind "$2" usr/bin/pathtwin
cp "$3" tmp/script
cat /proc/sys/kernel/random/uuid >tmp/boot_id
mount --bind tmp/boot_id proc/sys/kernel/random/boot_id
ip link add wan0 address 02:00:00:00:00:01 type veth peer name peer0 address 02:00:00:00:00:02
ip link set peer0 up
ip link add lan0 address 02:00:00:00:00:03 type veth peer name peer1 address 02:00:00:00:00:04
ip link set peer1 up
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot . /bin/ash /sbin/init
"#;

/// What procd does at boot: the parameters as `/etc/init.d/sysctl`, devices and interfaces as
/// netifd, which runs the scripts of hotplug for each interface.
const INIT: &str = r#"
for CONF in /etc/sysctl.d/*.conf /etc/sysctl.conf; do
    [ ! -f "$CONF" ] || sysctl -e -p "$CONF" >&-
done
ip link set lo up
for section in $(uci -q show network | sed -n 's/^\(network\.[^.]*\)=device$/\1/p'); do
    ! mtu=$(uci -q get $section.mtu) || ip link set "$(uci get $section.name)" mtu "$mtu"
done
for interface in $(uci -q show network | sed -n 's/^network\.\([^.]*\)=interface$/\1/p'); do
    device=$(uci get "network.$interface.device")
    ip link set "$device" up
    ip addr add "$(uci get "network.$interface.ipaddr")" dev "$device"
    ! via=$(uci -q get "network.$interface.gateway") || ip route add 10.9.0.0/16 via "$via" proto static
    ACTION=ifup INTERFACE=$interface DEVICE=$device hotplug-call iface >>/tmp/log 2>&1
done
. /tmp/script
"#;

/// OpenWrt's own, without what its first lines read for other scripts (package/base-files, v24.10).
const HOTPLUG_CALL: &str = r#"#!/bin/ash
export HOTPLUG_TYPE="$1"
export DEVICENAME="${DEVPATH##*/}"
for script in $(ls /etc/hotplug.d/$1/* 2>&-); do (
    [ -f $script ] && . $script
); done
"#;

const NETWORK: &str = "
config interface 'wan'
\toption device 'wan0'
\toption proto 'static'
\toption ipaddr '10.1.0.1/24'
\toption gateway '10.1.0.2'

config interface 'lan'
\toption device 'lan0'
\toption proto 'static'
\toption ipaddr '192.168.1.1/24'

";

/// Installed with packages of the same names, or with `ip-full` and `tc-tiny`.
const PROGRAMS: [&str; 5] = ["busybox", "ip", "tc", "ethtool", "nft"];

/// A router between two boots.
pub(crate) struct Router {
    flash: tempfile::TempDir,
    script: tempfile::TempDir,
    program: PathBuf,
}

impl Router {
    /// A new one, on which a program is installed. `None` where the test cannot run.
    pub(crate) fn new(program: &Path) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: needs root");
            return None;
        }
        let separate = ["--mount", "--pid", "--net", "--fork", "true"];
        let tried = Command::new("unshare").args(separate).output();
        if !tried.is_ok_and(|tried| tried.status.success()) {
            println!("skipped: needs namespaces");
            return None;
        }
        let mut programs = Vec::new();
        for name in PROGRAMS.iter().chain(["uci"].iter()) {
            let Some(found) = found(name) else {
                println!("skipped: no {name}; run: scripts/setup test");
                return None;
            };
            programs.push(found);
        }
        let router = Self {
            flash: tempfile::tempdir().expect("make a folder"),
            script: tempfile::tempdir().expect("make a folder"),
            program: program.to_owned(),
        };
        router.install(&programs);
        Some(router)
    }

    pub(crate) fn file(&self, path: &str, text: &str, mode: u32) {
        let path = self.flash.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("make a folder");
        fs::write(&path, text).expect("write a file");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set its mode");
    }

    fn install(&self, programs: &[PathBuf]) {
        let flash = self.flash.path();
        for folder in [
            "bin",
            "sbin",
            "usr/bin",
            "usr/sbin",
            "etc/init.d",
            "etc/hotplug.d/iface",
            "etc/modules.d",
            "proc",
            "sys",
            "dev",
            "tmp",
            "root",
        ] {
            fs::create_dir_all(flash.join(folder)).expect("make a folder");
        }
        // In memory, as all of /var.
        symlink("tmp", flash.join("var")).expect("make a link");
        self.file("usr/bin/pathtwin", "", 0o755);
        self.file("sbin/init", INIT, 0o755);
        self.file("sbin/hotplug-call", HOTPLUG_CALL, 0o755);
        self.file(
            "etc/openwrt_release",
            "DISTRIB_ID='OpenWrt'\nDISTRIB_RELEASE='24.10.4'\n",
            0o644,
        );
        self.file("etc/config/network", NETWORK, 0o600);
        self.file("etc/sysctl.conf", "# Defaults are in sysctl.d\n", 0o644);
        self.file(
            "etc/sysctl.d/10-default.conf",
            "net.ipv4.tcp_ecn=0\nnet.ipv4.tcp_syncookies=1\n",
            0o644,
        );
        // The lists of what an upgrade keeps: of the base system, and of pathtwin's package.
        self.file(
            "lib/upgrade/keep.d/base-files-essential",
            "/etc/sysctl.conf\n",
            0o644,
        );
        self.file("lib/upgrade/keep.d/pathtwin", "/etc/pathtwin/\n", 0o644);
        let all = programs.iter().chain(std::iter::once(&self.program));
        let libraries = all.flat_map(|program| libraries(program));
        for library in libraries {
            copy(
                &library,
                &flash.join(library.strip_prefix("/").expect("a path")),
            );
        }
        for program in programs {
            let name = program.file_name().expect("a name");
            copy(program, &flash.join("usr/sbin").join(name));
        }
        let applets = Command::new("chroot")
            .arg(flash)
            .args(["/usr/sbin/busybox", "--install", "-s", "/bin"])
            .output()
            .expect("run chroot");
        assert!(applets.status.success(), "{}", text(&applets.stderr));
    }

    /// Boots, runs a script, and cuts the power; returns its output.
    pub(crate) fn boot(&self, script: &str) -> String {
        let file = self.script.path().join("script");
        fs::write(&file, script).expect("write a file");
        let output = Command::new("timeout")
            .args([
                "-k",
                "5",
                "60",
                "unshare",
                "--mount",
                "--pid",
                "--net",
                "--fork",
                "--kill-child",
                "sh",
                "-c",
                BOOT,
                "boot",
            ])
            .arg(self.flash.path())
            .arg(&self.program)
            .arg(&file)
            .output()
            .expect("run unshare");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{out}{err}");
        out + &err
    }

    /// A line for each file, folder and link of the flash, but journals.
    pub(crate) fn tree(&self) -> String {
        let line = "find . -path ./etc/pathtwin -prune -o \\( -type f -printf '%m %p ' -exec \
                    sha256sum {} \\; -o -printf '%m %l %p\\n' \\) | sort";
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(self.flash.path())
            .output()
            .expect("run find");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Writes a new system over the old one, as `sysupgrade` does: what stays is the configuration,
    /// and what the lists in keep.d name.
    pub(crate) fn upgraded(self) -> Self {
        let new = Self::new(&self.program).expect("as before");
        let kept = "cat lib/upgrade/keep.d/* | while read -r path; do find \".$path\" -type f; done; \
                    find ./etc/config -type f";
        let line = format!("{{ {kept}; }} 2>/dev/null | sort -u | tar -c -T - | tar -x -C \"$0\"");
        let status = Command::new("sh")
            .args(["-c", &line])
            .arg(new.flash.path())
            .current_dir(self.flash.path())
            .status();
        assert!(status.expect("run tar").success());
        new
    }
}

/// A program of this host, or the one that scripts/setup compiles.
fn found(name: &str) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::home_dir().map(|home| home.join(".cache")));
    let compiled = cache.map(|cache| cache.join("pathtwin/test").join(name));
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let all = std::env::split_paths(&folders).chain(system);
    let mut files = compiled
        .into_iter()
        .chain(all.map(|folder| folder.join(name)));
    files.find(|file| file.is_file())
}

/// The libraries of a program; none of a static one.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(program).output().expect("run ldd");
    let said = text(&output.stdout);
    let words = said.split_whitespace();
    words
        .filter(|word| word.starts_with('/'))
        .map(PathBuf::from)
        .filter(|path| path.is_file() && path != program)
        .collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().expect("a folder")).expect("make a folder");
    fs::copy(from, to).expect("copy a file");
}
