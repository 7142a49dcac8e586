#![allow(clippy::unwrap_used)]

use std::{collections::BTreeMap, fs};

use model::change::{Change, ChangeId, Setting, Step, parse, snippet::Form};

use super::*;

mod ifupdown;
mod interrupted;
mod openwrt;
use crate::{
    BootClock, Folder, Observer, Unobserved,
    fake::{self, Fake},
};

/// A root with the folders of a system, and a journal with a confirmed change.
struct Scene {
    root: tempfile::TempDir,
    host: Fake,
}

const ID: &str = "07070707";

fn change(settings: &[&str], shapes: &[&str]) -> Change {
    let set = |text: &&str| Setting::parse_set(text, parse::Scope::Host).unwrap();
    let shape = |text: &&str| Setting::parse_shape(text).unwrap();
    let settings = settings.iter().map(set).chain(shapes.iter().map(shape));
    fake::confirmed(settings)
}

impl Scene {
    fn new(files: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        Self {
            root,
            host: Fake::with(&[("net.ipv4.tcp_ecn", "1")]),
        }
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn act<T>(&self, act: impl FnOnce(&mut Env<'_>, &Path) -> T) -> T {
        self.observed(&mut Unobserved, act)
    }

    fn observed<T>(
        &self,
        observer: &mut dyn Observer,
        act: impl FnOnce(&mut Env<'_>, &Path) -> T,
    ) -> T {
        let folder = Folder::open(&self.root.path().join("journals")).unwrap();
        let mut env = Env {
            folder: &folder,
            host: &mut self.host.clone(),
            clock: &BootClock,
            observer,
        };
        act(&mut env, self.root.path())
    }

    fn confirmed(&self, change: &Change) {
        self.act(|env, _| env.folder.write(change).unwrap());
    }

    /// All files but journals.
    fn tree(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                let name = path
                    .strip_prefix(self.root.path())
                    .unwrap()
                    .display()
                    .to_string();
                if name.starts_with("journals") {
                    continue;
                }
                if entry.file_type().unwrap().is_dir() {
                    folders.push(path);
                } else {
                    all.insert(name, fs::read_to_string(&path).unwrap_or_default());
                }
            }
        }
        all
    }
}

const DEBIAN: &[&str] = &[
    "etc/systemd/system/x",
    "etc/sysctl.d/10-other.conf",
    "run/udev/control",
];

#[test]
fn a_change_in_files_is_undone_without_a_trace() {
    for system in [
        DEBIAN,
        &["etc/openwrt_release", "etc/sysctl.conf"],
        &["etc/network/if-up.d/x"],
    ] {
        let scene = Scene::new(system);
        let before = scene.tree();
        scene.confirmed(&change(&["net.ipv4.tcp_ecn=1"], &[]));
        let kept = scene.act(|env, root| persist(env, ID, root)).unwrap();
        assert_eq!(kept.state, State::Persisted);
        let during = scene.tree();
        let file = format!("etc/sysctl.d/98-pathtwin-{ID}.conf");
        assert!(during[&file].contains("net.ipv4.tcp_ecn = 1"), "{during:?}");
        let (_, rollback) = scene.act(|env, _| crate::undo(env, Some(ID))).unwrap();
        assert!(
            rollback.is_complete() && rollback.left.is_empty(),
            "{rollback}"
        );
        assert_eq!(scene.tree(), before);
        assert_eq!(scene.host.dump()["net.ipv4.tcp_ecn"], "old");
    }
}

/// The shaper of a device is set up by a service bound to it, which loads its module.
#[test]
fn a_queue_gets_a_service_of_its_device() {
    let scene = Scene::new(DEBIAN);
    scene.confirmed(&change(&[], &["wan-1=47.5mbit"]));
    scene.act(|env, root| persist(env, ID, root)).unwrap();
    let tree = scene.tree();
    let unit = &tree[&format!("etc/systemd/system/pathtwin-{ID}-wan_1.service")];
    assert!(
        unit.contains(r"BindsTo=sys-subsystem-net-devices-wan\x2d1.device"),
        "{unit}"
    );
    let script = &tree[&format!("etc/pathtwin/{ID}-wan_1.sh")];
    assert!(
        script.contains("tc qdisc replace dev wan-1 root cake bandwidth 47.5mbit"),
        "{script}"
    );
    assert!(tree[&format!("etc/modules-load.d/pathtwin-{ID}.conf")].contains("sch_cake"));
    let wants = scene.root.path().join(format!(
        r"etc/systemd/system/sys-subsystem-net-devices-wan\x2d1.device.wants/pathtwin-{ID}-wan_1.service"
    ));
    assert!(wants.exists(), "the link leads nowhere");
}

#[test]
fn a_container_without_units_of_devices_sets_a_queue_when_its_network_is_up() {
    let scene = Scene::new(&DEBIAN[..2]);
    scene.confirmed(&change(&[], &["wan-1=47.5mbit"]));
    scene.act(|env, root| persist(env, ID, root)).unwrap();
    let tree = scene.tree();
    let name = format!("pathtwin-{ID}-wan_1.service");
    let unit = &tree[&format!("etc/systemd/system/{name}")];
    assert!(!unit.contains("BindsTo"), "{unit}");
    assert!(unit.contains("After=network-online.target"), "{unit}");
    let wants = format!("etc/systemd/system/multi-user.target.wants/{name}");
    assert!(scene.root.path().join(wants).exists());
}

#[test]
fn a_file_that_takes_precedence_at_boot_is_named_and_no_file_remains() {
    let scene = Scene::new(DEBIAN);
    let other = scene.root.path().join("etc/sysctl.d/99-hardening.conf");
    fs::write(other, "net.ipv4.tcp_ecn=0\n").unwrap();
    let before = scene.tree();
    scene.confirmed(&change(&["net.ipv4.tcp_ecn=1"], &[]));
    let error = scene.act(|env, root| persist(env, ID, root)).unwrap_err();
    assert!(error.to_string().contains("99-hardening.conf"), "{error}");
    assert_eq!(scene.tree(), before);
}

#[test]
fn an_edited_file_stays_and_is_named() {
    let scene = Scene::new(DEBIAN);
    scene.confirmed(&change(&["net.ipv4.tcp_ecn=1"], &[]));
    let kept = scene.act(|env, root| persist(env, ID, root)).unwrap();
    fs::write(&kept.files[0].path, "net.ipv4.tcp_ecn = 2\n").unwrap();
    let (_, rollback) = scene.act(|env, _| crate::undo(env, Some(ID))).unwrap();
    assert_eq!(rollback.left.len(), 1, "{rollback}");
    assert!(Path::new(&kept.files[0].path).exists());
}

/// After a boot the kernel has the values from the files; those before are in the journal.
#[test]
fn a_change_in_files_is_undone_after_a_boot_too() {
    let scene = Scene::new(DEBIAN);
    let before = scene.tree();
    scene.confirmed(&change(&["net.ipv4.tcp_ecn=1"], &[]));
    scene.act(|env, root| persist(env, ID, root)).unwrap();
    *scene.host.boot.borrow_mut() = "another".to_owned();
    let (_, rollback) = scene.act(|env, _| crate::undo(env, Some(ID))).unwrap();
    assert!(
        rollback.is_complete() && rollback.left.is_empty(),
        "{rollback}"
    );
    assert_eq!(scene.host.dump()["net.ipv4.tcp_ecn"], "old");
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_system_that_is_managed_by_other_means_is_left_to_them() {
    let scene = Scene::new(&["etc/NIXOS", "etc/systemd/system/x"]);
    scene.confirmed(&change(&["net.ipv4.tcp_ecn=1"], &[]));
    let error = scene.act(|env, root| persist(env, ID, root)).unwrap_err();
    assert!(error.to_string().contains("--snippet"), "{error}");
}

/// Ansible's own header (`ansible_managed`, its default).
const ANSIBLE: &str = "# Ansible managed\n";

#[test]
fn what_ansible_sets_is_left_to_it_and_nothing_is_written() {
    for (file, text) in [
        ("etc/sysctl.d/10-net.conf", "net.ipv4.tcp_ecn = 0\n"),
        ("etc/sysctl.d/99-net.conf", "net.ipv4.tcp_ecn = 0\n"),
        ("etc/network/interfaces", "iface wan inet dhcp\n"),
        (
            "etc/NetworkManager/system-connections/wan.nmconnection",
            "interface-name=wan\n",
        ),
        // By the address of the device: it is the file of its owner.
        (
            "etc/systemd/network/10-lan.network",
            "[Match]\nMACAddress=02:00:00:00:00:01\n",
        ),
    ] {
        let scene = Scene::new(DEBIAN);
        scene.file(file, &format!("{ANSIBLE}{text}"));
        scene.file(
            "run/systemd/netif/links/2",
            "NETWORK_FILE=/etc/systemd/network/10-lan.network\n",
        );
        let before = scene.tree();
        let mut change = change(&["net.ipv4.tcp_ecn=1"], &["wan=47.5mbit"]);
        change.steps[1].link = Some(2);
        scene.confirmed(&change);
        let error = scene.act(|env, root| persist(env, ID, root)).unwrap_err();
        let message = error.to_string();
        for part in [&format!("/{file}"), "Ansible", "--snippet"] {
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(error.snippet(), Some(Form::Ansible));
        assert_eq!(scene.tree(), before);
        let change = scene.act(|env, _| env.folder.list().unwrap().remove(0).change.unwrap());
        assert_eq!(change.state, State::Confirmed, "until the next boot");
    }
}

#[test]
fn files_of_ansible_about_other_things_and_of_the_user_are_no_obstacle() {
    for (file, text) in [
        (
            "etc/sysctl.d/10-net.conf",
            "# Ansible managed\nnet.ipv4.tcp_ecn_fallback = 0\n",
        ),
        ("etc/sysctl.d/10-net.conf", "net.ipv4.tcp_ecn = 0\n"),
        (
            "etc/network/interfaces",
            "# Ansible managed\niface lan inet dhcp\n",
        ),
    ] {
        let scene = Scene::new(DEBIAN);
        scene.file(file, text);
        scene.confirmed(&change(&["net.ipv4.tcp_ecn=1"], &["wan=47.5mbit"]));
        scene.act(|env, root| persist(env, ID, root)).unwrap();
    }
}

/// Bug: with a umask of 077 a drop-in of networkd could be read by root alone, and networkd does
/// not run as root.
#[test]
fn files_can_be_read_by_the_services_that_need_them_whatever_the_umask() {
    // The umask is one of the process: a process of its own.
    let name = "persist::tests::with_a_umask_of_its_process";
    let test = std::env::current_exe().unwrap();
    let run = std::process::Command::new("sh")
        .args(["-c", "umask 077; exec \"$0\" \"$@\""])
        .arg(test)
        .args(["--exact", name, "--ignored"])
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && out.contains("1 passed"), "{out}");
}

#[test]
#[ignore = "run by the test above"]
fn with_a_umask_of_its_process() {
    let scene = Scene::new(DEBIAN);
    scene.confirmed(&change(&["net.ipv4.tcp_ecn=1"], &["wan-1=47.5mbit"]));
    scene.act(|env, root| persist(env, ID, root)).unwrap();
    let mode = |path: &str| {
        let found = std::fs::metadata(scene.root.path().join(path)).unwrap();
        std::os::unix::fs::MetadataExt::mode(&found) & 0o777
    };
    assert_eq!(mode("etc/pathtwin"), 0o755);
    assert_eq!(mode(&format!("etc/pathtwin/{ID}-wan_1.sh")), 0o755);
    assert_eq!(
        mode(&format!("etc/systemd/system/pathtwin-{ID}-wan_1.service")),
        0o644
    );
    assert_eq!(mode(&format!("etc/sysctl.d/98-pathtwin-{ID}.conf")), 0o644);
}

/// Bug: the bucket of a shaper in a drop-in was networkd's default, of one packet, not the one that
/// was proved. 1 ms of 500 Mbit/s is 62,500 bytes.
#[test]
fn a_shaper_of_networkd_has_the_bucket_that_was_proved() {
    let shaper = Setting::parse_shape("wan-1=500mbit fq_codel").unwrap();
    let text = super::networkd::networkd_text(&shaper).unwrap();
    for line in [
        "Rate=500000000",
        "BufferBytes=62500",
        "CeilBufferBytes=62500",
        "QuantumBytes=1514",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}: {text}");
    }
}
