//! Tests of the files for the owner of a device, with the real owner: systemd-networkd, udev,
//! shells.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use super::{
    system::{NETWORKD, System, settings},
    *,
};

fn networkd_is_here() -> bool {
    let is_here = Path::new(NETWORKD).exists();
    if !is_here {
        println!("skipped: no {NETWORKD}");
    }
    is_here
}

/// Boot 1: applied and put into files. Boot 2: networkd sets it, and it is undone. Boot 3: nothing.
#[test]
fn a_device_of_networkd_has_its_settings_after_a_boot_and_none_after_undoing() {
    let name = "a_device_of_networkd_has_its_settings_after_a_boot_and_none_after_undoing";
    let Some(mut system) = networkd_is_here()
        .then(|| System::of_systemd("owners", name))
        .flatten()
    else {
        return;
    };
    let network = "[Match]\nName=v0\n\n[Network]\nAddress=10.1.0.1/24\nLinkLocalAddressing=no\n";
    system.file("etc/systemd/network/10-v0.network", network);
    let state = format!("run/systemd/netif/links/{}", System::index());
    system.file(&state, "NETWORK_FILE=/etc/systemd/network/10-v0.network\n");
    system.networkd();
    let (before, tree) = (System::state(), system.tree());
    assert!(before.contains("mtu 1500"), "{before}");
    let change = system.kept(&settings());
    assert_eq!(change.files.len(), 1, "{:?}", change.files);
    let with = System::state();

    system.boot();
    assert_ne!(System::state(), with, "a boot that keeps settings is none");
    let log = system.networkd();
    assert!(!log.contains("ignoring"), "{log}");
    let after = System::state();
    assert!(
        after.contains("mtu 1400") && after.contains("pfifo"),
        "{after}\n{log}"
    );
    assert!(after.contains("limit 5p"), "{after}");
    system.undone(&change);
    assert_eq!(System::state(), before);
    assert_eq!(system.tree(), tree);

    system.boot();
    system.networkd();
    assert_eq!(System::state(), before);
}

/// networkd only warns about a key that it does not know, and leaves it out.
#[test]
fn networkd_knows_every_key_that_is_written_for_it() {
    let name = "networkd_knows_every_key_that_is_written_for_it";
    let Some(system) = networkd_is_here()
        .then(|| System::of_systemd("owners", name))
        .flatten()
    else {
        return;
    };
    for queue in [
        "fq limit=900 flow_limit=90",
        "fq_codel limit=900 target=7ms interval=80ms ecn=off",
        "cake bandwidth=19500kbit overhead=-4 nat=on",
        "htb rate=47500kbit queue=fq_codel",
        "htb rate=47500kbit queue=fq",
        "pfifo limit=5",
        "bfifo limit=5000",
    ] {
        let setting = Setting::parse_queue(&format!("v0={queue}")).unwrap();
        let text = tune::networkd_text(&setting).unwrap_or_else(|| panic!("{queue}"));
        system.file(
            "etc/systemd/network/10-v0.network",
            &format!("[Match]\nName=v0\n{text}"),
        );
        let log = system.networkd();
        assert!(log.contains("Configuring with"), "{log}");
        for complaint in ["ignoring", "Unknown", "10-v0.network:"] {
            assert!(!log.contains(complaint), "{queue}\n{text}\n{log}");
        }
    }
}

/// The guest's kernel has the queues, and the same networkd sets them.
#[test]
fn shapers_of_networkd_are_there_after_a_boot_in_the_guest() {
    in_guest("owners::shapers_of_networkd_are_there_after_a_boot");
}

#[test]
fn shapers_of_networkd_are_there_after_a_boot() {
    let name = "shapers_of_networkd_are_there_after_a_boot";
    let Some(mut system) = networkd_is_here()
        .then(|| System::of_systemd("owners", name))
        .flatten()
    else {
        return;
    };
    system.file("etc/systemd/network/10-v0.network", "[Match]\nName=v0\n");
    for shaper in ["50mbit fq_codel", "50mbit fq", "50mbit"] {
        let setting = Setting::parse_shape(&format!("v0={shaper}")).unwrap();
        if let Err(error) = planned(std::slice::from_ref(&setting)) {
            println!("skipped: {error}");
            continue;
        }
        let state = format!("run/systemd/netif/links/{}", System::index());
        system.file(&state, "NETWORK_FILE=/etc/systemd/network/10-v0.network\n");
        system.networkd();
        let (before, tree) = (System::state(), system.tree());
        let change = system.kept(&[setting]);
        let mut files = change.files.iter();
        assert!(
            files.any(|file| file.path.contains("10-v0.network.d")),
            "{:?}",
            change.files
        );
        system.boot();
        let log = system.networkd();
        let found = system.env(tune::pending).unwrap();
        assert!(found.compared.drifted.is_empty(), "{found:?}\n{log}");
        assert_eq!(found.seen, std::slice::from_ref(&change.id), "{log}");
        system.undone(&change);
        assert_eq!((System::state(), system.tree()), (before, tree));
    }
}

/// udev applies a `.link` file when a device appears.
#[test]
fn a_link_file_of_one_device_is_extended_and_udev_applies_it() {
    let Some(mut system) = System::of_systemd(
        "owners",
        "a_link_file_of_one_device_is_extended_and_udev_applies_it",
    ) else {
        return;
    };
    system.file(
        "etc/systemd/network/10-v0.link",
        "[Match]\nOriginalName=v0\n",
    );
    let state = format!("run/udev/data/n{}", System::index());
    system.file(
        &state,
        "E:ID_NET_LINK_FILE=/etc/systemd/network/10-v0.link\n",
    );
    let tree = system.tree();
    let change = system.kept(&[Setting::parse_queue_length("v0=77").unwrap()]);
    assert!(
        change.files[0].path.contains("10-v0.link.d"),
        "{:?}",
        change.files
    );
    system.boot();
    let own = system.path("etc/systemd/network");
    sh(&format!(
        "mount --bind {} /etc/systemd/network",
        own.display()
    ));
    let udev = "udevadm test-builtin net_setup_link /sys/class/net/v0 2>&1 || true";
    let log = sh(udev);
    sh("umount /etc/systemd/network");
    let link = sh("ip link show v0");
    match log.contains("98-pathtwin") || log.contains("10-v0.link") {
        true => assert!(link.contains("qlen 77"), "{link}\n{log}"),
        // Without udevadm, or without udev's database.
        false => println!("skipped: udev did not read the file: {log}"),
    }
    system.undone(&change);
    assert_eq!(system.tree(), tree);
}

/// A file that networkd uses for other devices too cannot be extended for one of them.
#[test]
fn a_file_for_several_devices_is_left_alone() {
    let Some(system) = System::of_systemd("owners", "a_file_for_several_devices_is_left_alone")
    else {
        return;
    };
    system.file("etc/systemd/network/10-all.network", "[Match]\nName=v*\n");
    let state = format!("run/systemd/netif/links/{}", System::index());
    system.file(&state, "NETWORK_FILE=/etc/systemd/network/10-all.network\n");
    let change = system.kept(&settings());
    let all: Vec<&str> = change.files.iter().map(|file| file.path.as_str()).collect();
    assert!(!all.iter().any(|path| path.contains("10-all")), "{all:?}");
    assert!(all.iter().any(|path| path.ends_with(".service")), "{all:?}");
    // systemd's own parser of units.
    let unit = all.iter().find(|path| path.ends_with(".service")).unwrap();
    let verify = Command::new("systemd-analyze")
        .args(["verify", "--man=no", unit])
        .output();
    match verify {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("pathtwin"), "{said}");
        }
        Err(error) => println!("skipped: systemd-analyze: {error}"),
    }
}

/// A second drop-in with another queue would make the device fail.
#[test]
fn another_drop_in_with_precedence_is_named_and_no_file_remains() {
    let Some(system) = System::of_systemd(
        "owners",
        "another_drop_in_with_precedence_is_named_and_no_file_remains",
    ) else {
        return;
    };
    system.file("etc/systemd/network/10-v0.network", "[Match]\nName=v0\n");
    let state = format!("run/systemd/netif/links/{}", System::index());
    system.file(&state, "NETWORK_FILE=/etc/systemd/network/10-v0.network\n");
    let others = [
        ("[Link]\nMTUBytes=1300\n", "MTUBytes=1300"),
        ("[FairQueueing]\n", "FairQueueing"),
    ];
    for (text, named) in others {
        let other = "usr/lib/systemd/network/10-v0.network.d/99-other.conf";
        system.file(other, text);
        let tree = system.tree();
        let own = Process::own().unwrap();
        let own = ProcessId {
            pid: own.pid,
            start_ticks: own.start_ticks,
        };
        let error = system.env(|env| {
            let mut arm = Arm {
                window: Duration::from_secs(60),
                controller: own,
                keeper: &mut |_| Ok(own),
                prober: &mut NewFlows,
            };
            let change = tune::apply(env, &planned(&settings()).unwrap(), &mut arm).unwrap();
            tune::confirm(env, None, &mut NewFlows).unwrap();
            let error = tune::persist(env, change.id.as_str(), system.root.path()).unwrap_err();
            tune::undo(env, Some(change.id.as_str())).unwrap();
            error.to_string()
        });
        assert!(
            error.contains("99-other.conf") && error.contains(named),
            "{error}"
        );
        assert_eq!(system.tree(), tree);
    }
}

/// NetworkManager's dispatcher starts it with the device and the event, and only if nobody but root
/// can write it (NetworkManager-dispatcher(8)).
#[test]
fn a_device_of_networkmanager_gets_a_script_of_its_dispatcher() {
    let Some(mut system) = System::of_systemd(
        "owners",
        "a_device_of_networkmanager_gets_a_script_of_its_dispatcher",
    ) else {
        return;
    };
    let state = format!("run/NetworkManager/devices/{}", System::index());
    system.file(
        &state,
        "[device]\nmanaged=true\nroute-metric-default-aspired=100\n",
    );
    let tree = system.tree();
    let change = system.kept(&settings());
    let [script] = &change.files[..] else {
        panic!("{:?}", change.files)
    };
    let mode = fs::metadata(&script.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
    assert!(script.path.contains("etc/NetworkManager/dispatcher.d/"));
    // As the dispatcher does: its own variables only, and its path.
    let environment = "env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin CONNECTION_ID=Wired DEVICE_IFACE";
    for shell in shells() {
        let run = |device: &str, event: &str| {
            let path = &script.path;
            sh(&format!(
                "{environment}={device} {shell} {path} {device} {event}"
            ))
        };
        system.boot();
        let untouched = System::state();
        let found = system.env(tune::pending).unwrap();
        let drifted = &found.compared.drifted;
        assert!(
            found.seen.is_empty() && drifted[0].1.len() == 2,
            "{found:?}"
        );
        for (device, event) in [("v1", "up"), ("v0", "down"), ("v0", "pre-up")] {
            run(device, event);
            assert_eq!(System::state(), untouched, "{shell} {device} {event}");
        }
        run("v0", "up");
        let state = System::state();
        assert!(
            state.contains("mtu 1400") && state.contains("pfifo"),
            "{shell}: {state}"
        );
        // The queue has another handle at each boot.
        let found = system.env(tune::pending).unwrap();
        assert_eq!(found.seen, std::slice::from_ref(&change.id));
        assert!(found.compared.drifted.is_empty(), "{found:?}");
        let last = found.last.unwrap();
        let mut events = last.events.iter().map(|event| event.what.to_string());
        assert!(events.any(|what| what.starts_with("after a boot")));
        let again = system.env(tune::pending).unwrap();
        assert!(again.seen.is_empty() && again.compared.drifted.is_empty());
    }
    // From then on its options count too.
    sh("tc qdisc change dev v0 root pfifo limit 9");
    let found = system.env(tune::pending).unwrap();
    assert_eq!(found.compared.drifted.len(), 1, "{found:?}");
    sh("tc qdisc change dev v0 root pfifo limit 5");
    system.undone(&change);
    assert_eq!(system.tree(), tree);
}
