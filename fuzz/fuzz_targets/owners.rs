#![no_main]
//! Any text in the files of those that set a device up (networkd, udev, NetworkManager, ifupdown,
//! UCI, sysctl): a Change that is written into files and undone leaves every file as it was, and so
//! does one that is refused.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use libfuzzer_sys::fuzz_target;
use model::{
    change::{CHANGE_SCHEMA, Change, ChangeId, Saved, Scope, Setting, State, Step, parse},
    text::Text,
};
use tune::{Clock, Env, Folder, Host, HostError, Refusal, Unobserved, persist, undo};

/// Below the root; the device `eth0` has the index 2.
const SYSTEMD: [&str; 5] = [
    "etc/systemd/network/10-lan.network",
    "etc/systemd/network/10-lan.link",
    "etc/systemd/network/10-lan.network.d/90-other.conf",
    "run/NetworkManager/devices/2",
    "etc/sysctl.d/99-other.conf",
];
const OPENWRT: [&str; 5] = [
    "etc/config/network",
    "etc/config/sqm",
    "etc/sysctl.conf",
    "etc/sysctl.d/12-tcp-bbr.conf",
    "etc/sysupgrade.conf",
];
const IFUPDOWN: [&str; 5] = [
    "etc/network/interfaces",
    "etc/network/interfaces.d/lan",
    "run/network/ifstate",
    "run/NetworkManager/devices/2",
    "etc/sysctl.d/99-other.conf",
];
/// With the copy for other users beside the folder in it.
const JOURNALS: &str = "journals";
const ID: &str = "07070707";

fuzz_target!(|input: (u8, u8, [&str; 5])| {
    let (system, settings, texts) = input;
    let root = Root::with(system, texts);
    let before = root.files();
    let folder = Folder::open(&root.0.join(JOURNALS).join("tune")).expect("a folder");
    folder.write(&change(settings)).expect("a journal");
    let mut env = Env {
        folder: &folder,
        host: &mut Inert,
        clock: &Stopped,
        observer: &mut Unobserved,
    };
    match persist(&mut env, ID, &root.0) {
        Ok(change) => {
            assert_eq!(change.state, State::Persisted);
            let (_, rollback) = undo(&mut env, Some(ID)).expect("a change that can be undone");
            assert!(rollback.left.is_empty(), "{rollback}");
        }
        Err(error) => drop(error.to_string()),
    }
    assert_eq!(root.files(), before);
});

/// A system in memory, removed at the end.
struct Root(PathBuf);

impl Root {
    fn with(system: u8, texts: [&str; 5]) -> Self {
        let path = Path::new("/dev/shm").join(format!("pathtwin-fuzz-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        let root = Self(path);
        fs::create_dir_all(root.0.join(JOURNALS)).expect("memory");
        let (names, fixed) = match system % 3 {
            0 => (
                OPENWRT,
                vec![("etc/openwrt_release", ""), ("etc/init.d/sqm", "")],
            ),
            1 => (
                IFUPDOWN,
                vec![("etc/systemd/system/x", ""), ("usr/sbin/ifup", "")],
            ),
            _ => (
                SYSTEMD,
                vec![
                    ("etc/systemd/system/x", ""),
                    (
                        "run/systemd/netif/links/2",
                        "NETWORK_FILE=/etc/systemd/network/10-lan.network\n",
                    ),
                    (
                        "run/udev/data/n2",
                        "E:ID_NET_LINK_FILE=/etc/systemd/network/10-lan.link\n",
                    ),
                ],
            ),
        };
        for (name, text) in fixed.into_iter().chain(names.into_iter().zip(texts)) {
            let path = root.0.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("memory");
            fs::write(path, text).expect("memory");
        }
        root
    }

    /// All files but journals, and the folders.
    fn files(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut all = BTreeMap::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let path = entry.path();
                if path == self.0.join(JOURNALS) {
                    continue;
                }
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder {
                    folders.push(path.clone());
                }
                all.insert(
                    path.clone(),
                    (!is_folder).then(|| fs::read(&path).unwrap_or_default()),
                );
            }
        }
        all
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A confirmed change of some settings.
fn change(chosen: u8) -> Change {
    let all = [
        Setting::parse_mtu("eth0=1400"),
        Setting::parse_shape("eth0=50mbit"),
        Setting::parse_shape_ingress("eth0=20mbit fq_codel"),
        Setting::parse_queue_length("eth0=500"),
        Setting::parse_rings("eth0=rx=256 tx=256"),
        Setting::parse_offload("eth0=gro off"),
        Setting::parse_set("net.ipv4.tcp_ecn=1", parse::Scope::Host),
        Setting::parse_set("cc=bbr", parse::Scope::Host),
    ];
    let chosen = (0..).zip(all).filter(|(bit, _)| chosen & 1 << bit != 0);
    let step = |setting| Step {
        setting,
        old: Saved::Parameter {
            value: "old".to_owned(),
            allowed: None,
        },
        new: None,
        link: Some(2),
        origin: None,
    };
    Change {
        schema: CHANGE_SCHEMA,
        program: "0".to_owned(),
        id: ChangeId::from_random([7; 16]),
        state: State::Confirmed,
        scope: Inert.scope().expect("a scope"),
        created_unix_s: None,
        controller: None,
        keeper: None,
        deadline_boottime_ns: None,
        probes: Vec::new(),
        files: Vec::new(),
        steps: chosen.map(|(_, s)| step(s.expect("a setting"))).collect(),
        warnings: Vec::new(),
        events: Vec::new(),
        aside: false,
        undone_because: None,
    }
}

/// A host whose settings are always as they were.
struct Inert;

impl Host for Inert {
    fn scope(&mut self) -> Result<Scope, HostError> {
        Ok(Scope {
            boot: String::new(),
            netns: 1,
            initial: Some(true),
            host: "fuzz".to_owned(),
        })
    }

    fn link(&mut self, _: &str) -> Result<Option<u32>, HostError> {
        Ok(Some(2))
    }

    fn read(&mut self, _: &Setting) -> Result<Saved, HostError> {
        Ok(Saved::Parameter {
            value: "old".to_owned(),
            allowed: None,
        })
    }

    fn check(&mut self, _: &Setting, _: &Saved) -> Result<Vec<Text>, Refusal> {
        Ok(Vec::new())
    }

    fn lacks(&mut self, _: &Setting) -> Option<&'static str> {
        None
    }

    fn write(&mut self, _: &Setting, _: &Saved) -> Result<(), HostError> {
        Ok(())
    }

    fn restore(&mut self, _: &Setting, _: &Saved) -> Result<(), HostError> {
        Ok(())
    }
}

/// A clock that nobody waits for.
struct Stopped;

impl Clock for Stopped {
    fn boottime_ns(&self) -> u64 {
        1
    }

    fn sleep(&self, _: Duration) {}
}
