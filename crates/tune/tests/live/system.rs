//! A system that writes files for the next boot, in a folder.
//!
//! A boot is a new network namespace with the same devices and another boot id. The kernel's
//! settings end with a namespace as with a boot.

use std::{fs, path::PathBuf};

use super::{first::First, *};

pub(super) const NETWORKD: &str = "/lib/systemd/systemd-networkd";

/// A system in a folder, with a device v0 in a namespace, and journals.
pub(super) struct System {
    pub(super) root: tempfile::TempDir,
    boots: u32,
}

impl System {
    /// One of systemd; `None` where this test of a module does not run.
    pub(super) fn of_systemd(module: &str, test: &str) -> Option<Self> {
        Self::new(&format!("{module}::{test}"), "etc/systemd/system/x")
    }

    /// One that is known by a file; `None` where the test does not run.
    pub(super) fn new(test: &str, file: &str) -> Option<Self> {
        if !in_own_process(test) {
            return None;
        }
        let mut system = Self {
            root: tempfile::tempdir().unwrap(),
            boots: 0,
        };
        system.file(file, "");
        system.boot();
        Some(system)
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(super) fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A reboot: new devices, and another boot id.
    pub(super) fn boot(&mut self) {
        Netns::create().and_then(|ns| ns.enter()).unwrap();
        sh("umount /sys; mount -o ro -t sysfs sysfs /sys");
        sh("ip link add v0 type veth peer name v1 && ip link set v1 up");
        self.boots += 1;
        let id = self.path("boot_id");
        fs::write(&id, format!("5f5c9d1a-0000-4000-8000-{:012}\n", self.boots)).unwrap();
        let id = id.display();
        sh("umount /proc/sys/kernel/random/boot_id 2>/dev/null || true");
        sh(&format!(
            "mount --bind {id} /proc/sys/kernel/random/boot_id"
        ));
    }

    /// The real networkd sets the device up from the files of this system; returns its log.
    pub(super) fn networkd(&self) -> String {
        let own = self.path("etc/systemd/network");
        let own = own.display();
        sh("mkdir -p /run/systemd/netif /run/systemd/network && mount -t tmpfs none /run/systemd");
        // It starts as root and continues as its own user.
        sh(
            "mkdir -p /run/systemd/netif/links /run/systemd/netif/leases && \
            chown -R systemd-network:systemd-network /run/systemd/netif",
        );
        // Before version 250 or so it waits for udev, also where there is none.
        sh(
            "mkdir -p /run/udev && mount -t tmpfs none /run/udev && mkdir /run/udev/data && \
            for index in /sys/class/net/*/ifindex; do : >/run/udev/data/n$(cat $index); done",
        );
        sh(&format!("mount --bind {own} /etc/systemd/network"));
        sh(&format!("chmod 755 {}", self.root.path().display()));
        let log = sh(&format!("timeout 3 {NETWORKD} 2>&1 || true"));
        sh("umount /etc/systemd/network /run/udev /run/systemd");
        log
    }

    pub(super) fn index() -> u32 {
        sh("cat /sys/class/net/v0/ifindex").trim().parse().unwrap()
    }

    pub(super) fn state() -> String {
        sh("ip -o link show v0 | grep -o 'mtu [0-9]*.*qdisc [a-z]*'; tc qdisc show dev v0")
    }

    /// All files but journals, with their permissions.
    pub(super) fn tree(&self) -> String {
        let root = self.root.path().display();
        sh(&format!(
            "cd {root} && find . -path './journals*' -prune -o -printf '%p %m %l\\n' | sort && \
             grep -r . etc run || true"
        ))
    }

    pub(super) fn env<T>(&self, act: impl FnOnce(&mut Env<'_>) -> T) -> T {
        let folder = Folder::open(&self.path("journals")).unwrap();
        act(&mut Env {
            folder: &folder,
            host: &mut First(Live::open().unwrap()),
            clock: &BootClock,
            observer: &mut Unobserved,
        })
    }

    /// Applies, confirms, and persists.
    pub(super) fn kept(&self, settings: &[Setting]) -> Change {
        let own = Process::own().unwrap();
        let own = ProcessId {
            pid: own.pid,
            start_ticks: own.start_ticks,
        };
        self.env(|env| {
            let mut arm = Arm {
                window: Duration::from_secs(60),
                controller: own,
                keeper: &mut |_| Ok(own),
                prober: &mut NewFlows,
            };
            let mut plan = planned(settings).unwrap();
            plan.scope = env.host.scope().unwrap();
            let change = tune::apply(env, &plan, &mut arm).unwrap();
            tune::confirm(env, None, &mut NewFlows).unwrap();
            tune::persist(env, change.id.as_str(), self.root.path()).unwrap()
        })
    }

    pub(super) fn undone(&self, change: &Change) {
        let id = Some(change.id.as_str());
        let (_, rollback) = self.env(|env| tune::undo(env, id)).unwrap();
        assert!(
            rollback.is_complete() && rollback.left.is_empty(),
            "{rollback}"
        );
    }
}

pub(super) fn settings() -> Vec<Setting> {
    vec![
        Setting::parse_mtu("v0=1400").unwrap(),
        Setting::parse_queue("v0=pfifo limit=5").unwrap(),
    ]
}
