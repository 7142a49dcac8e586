//! Tests of the scripts for ifupdown, run by Debian's own `ifup`.

use std::path::PathBuf;

use super::{
    system::{System, settings},
    *,
};

const INTERFACES: &str = "
auto lo
iface lo inet loopback

auto v1
iface v1 inet manual
    up ip link set v1 up

auto v0
iface v0 inet static
    address 10.1.0.1/24
";

/// Debian's `ifup`: the system's, or the one that scripts/setup unpacks.
fn ifup() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::home_dir().map(|home| home.join(".cache")));
    let unpacked = cache.map(|cache| cache.join("pathtwin/test/ifup"));
    let all = unpacked.into_iter().chain([PathBuf::from("/sbin/ifup")]);
    let found = all.into_iter().find(|file| file.exists());
    if found.is_none() {
        println!("skipped: no ifup; run: scripts/setup test");
    }
    found
}

/// A system of ifupdown; `None` where the test does not run.
fn system(test: &str) -> Option<System> {
    ifup()?;
    let system = System::new(&format!("ifupdown::{test}"), "etc/network/if-up.d/x")?;
    system.file("etc/network/interfaces", INTERFACES);
    system.file("etc/network/if-pre-up.d/x", "");
    Some(system)
}

impl System {
    /// Sets devices up from the files of this system; returns what was said.
    fn up(&self, which: &str) -> String {
        let etc = self.path("etc");
        let ifup = ifup().unwrap();
        // It notes in /run which interfaces are up; the real program is in a folder of the user.
        sh(&format!(
            "mount --bind {} /etc; mount -t tmpfs none /run",
            etc.display()
        ));
        let said = sh(&format!("{} --force {which} 2>&1", ifup.display()));
        sh("umount /etc /run");
        said
    }
}

#[test]
fn ifup_sets_the_settings_of_a_device_and_nothing_is_left_after_undoing() {
    let name = "ifup_sets_the_settings_of_a_device_and_nothing_is_left_after_undoing";
    let Some(mut system) = system(name) else {
        return;
    };
    system.up("--all");
    let (before, tree) = (System::state(), system.tree());
    let change = system.kept(&settings());
    let [script] = &change.files[..] else {
        panic!("{:?}", change.files)
    };
    assert!(script.path.contains("etc/network/if-up.d/pathtwin-"));
    system.boot();
    let bare = System::state();
    system.up("lo v1");
    assert!(
        !System::state().contains("pfifo"),
        "of other devices: {bare}"
    );
    let said = system.up("--all");
    let state = System::state();
    for with in ["mtu 1400", "pfifo", "limit 5p"] {
        assert!(state.contains(with), "{said}{state}");
    }
    let found = system.env(tune::pending).unwrap();
    assert!(found.compared.drifted.is_empty(), "{found:?}");
    system.undone(&change);
    assert_eq!(System::state(), before);
    assert_eq!(system.tree(), tree);
    system.boot();
    system.up("--all");
    assert_eq!(System::state(), before, "after a boot");
}

/// A setting without a device is set for every device that comes up.
#[test]
fn an_mss_clamp_and_a_route_are_set_once_however_many_devices_come_up() {
    let name = "an_mss_clamp_and_a_route_are_set_once_however_many_devices_come_up";
    let Some(mut system) = system(name) else {
        return;
    };
    const STATE: &str = "nft list ruleset; ip route show";
    system.up("--all");
    let (before, tree) = (sh(STATE), system.tree());
    let change = system.kept(&[
        Setting::parse_mss_clamp("1200").unwrap(),
        cc("reno", "route:10.1.0.0/24"),
    ]);
    let with = sh(STATE);
    assert!(with.contains("maxseg size set 1200"), "{with}");
    assert!(with.contains("congctl reno"), "{with}");
    system.boot();
    let said = system.up("--all") + &system.up("lo v1");
    assert_eq!(sh(STATE), with, "{said}");
    let found = system.env(tune::pending).unwrap();
    assert!(found.compared.drifted.is_empty(), "{found:?}");
    system.undone(&change);
    assert_eq!(sh(STATE), before);
    assert_eq!(system.tree(), tree);
}
