//! Devices of ifupdown on a system with systemd, as Debian's.

use super::*;

const STANZA: &str = "allow-hotplug eth0\niface eth0 inet static\n    mtu 1500\n";

/// Debian with systemd and ifupdown; udev has a `.link` file for the device alone.
fn debian(interfaces: &str) -> Scene {
    let scene = Scene::new(DEBIAN);
    scene.file("usr/sbin/ifup", "");
    scene.file("etc/network/if-up.d/ethtool", "");
    scene.file("etc/network/interfaces", "source interfaces.d/*\n");
    scene.file("etc/network/interfaces.d/lan", interfaces);
    scene.file(
        "etc/systemd/network/10-lan.link",
        "[Match]\nOriginalName=eth0\n",
    );
    scene.file(
        "run/udev/data/n2",
        "E:ID_NET_LINK_FILE=/etc/systemd/network/10-lan.link\n",
    );
    scene
}

/// A change of a device with the index 2.
fn of_device() -> Change {
    let mut change = fake::confirmed([
        Setting::parse_mtu("eth0=1400").unwrap(),
        Setting::parse_shape("eth0=47.5mbit").unwrap(),
        Setting::parse_queue_length("eth0=500").unwrap(),
        Setting::parse_offload("eth0=gro off").unwrap(),
    ]);
    for step in &mut change.steps {
        step.link = Some(2);
    }
    change
}

/// The files that were not there before.
fn new_files(scene: &Scene, before: &BTreeMap<String, String>) -> Vec<String> {
    scene.confirmed(&of_device());
    scene.act(|env, root| persist(env, ID, root)).unwrap();
    let mut all = scene.tree();
    all.retain(|file, _| !before.contains_key(file));
    all.into_keys().collect()
}

#[test]
fn ifup_runs_the_script_of_its_device_and_undoing_leaves_no_file() {
    let scene = debian(STANZA);
    let before = scene.tree();
    let script = format!("etc/network/if-up.d/pathtwin-{ID}-eth0");
    let modules = format!("etc/modules-load.d/pathtwin-{ID}.conf");
    // Nothing of systemd's: ifup sets the MTU and offloads after udev and units of devices.
    assert_eq!(new_files(&scene, &before), [modules, script.clone()]);
    let text = &scene.tree()[&script];
    for part in [
        "#!/bin/sh\n",
        "[ \"$IFACE\" = 'eth0' ] || exit 0\n",
        "mtu 1400",
        "cake bandwidth 47.5mbit",
        "txqueuelen 500",
        "ethtool",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The host in memory has no device, which is not about files.
    scene.act(|env, _| crate::undo(env, Some(ID))).unwrap();
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_device_that_another_program_manages_is_not_ifupdowns() {
    for (state, text, own) in [
        (
            "etc/network/interfaces.d/lan",
            "iface eth1 inet dhcp\n",
            "etc/systemd/system/",
        ),
        (
            "run/NetworkManager/devices/2",
            "[device]\nmanaged=true\n",
            "etc/NetworkManager/dispatcher.d/",
        ),
        (
            "run/systemd/netif/links/2",
            "NETWORK_FILE=/etc/systemd/network/all.network\n",
            "etc/systemd/system/",
        ),
    ] {
        let scene = debian(STANZA);
        scene.file(state, text);
        let before = scene.tree();
        let files = new_files(&scene, &before);
        assert!(
            files.iter().any(|file| file.starts_with(own)),
            "{state}: {files:?}"
        );
        assert!(
            files.iter().all(|file| !file.contains("if-up.d")),
            "{state}: {files:?}"
        );
        // The queue length.
        let link = "etc/systemd/network/10-lan.link.d/";
        assert!(
            files.iter().any(|file| file.starts_with(link)),
            "{state}: {files:?}"
        );
    }
}
