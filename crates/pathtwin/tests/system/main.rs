//! Hosts with the real systemd as first process, with networkd and udev: what `tune` wrote to files
//! stays after a boot, what it undid is gone, and the packages' services do what they promise.

#![allow(clippy::expect_used)]

#[path = "../common/mod.rs"]
mod common;
mod devices;
mod keeper;
mod machine;
mod services;

use machine::{Devices, System};

const APPLY: &str = "pathtwin tune apply --set net.ipv4.tcp_ecn=1 --queue 'up0=pfifo limit=77' \
                     --queue-length up0=555 --mtu up0=1400 --offload 'up0=tso off' \
                     --set cc=reno --scope route:10.9.0.0/16 --window 60s >/dev/null 2>&1\n";
const CONFIRM: &str = "pathtwin tune confirm --persist >/dev/null 2>&1\n";
const UNDO: &str =
    "pathtwin tune undo $(basename /var/lib/pathtwin/tune/*.json .json) >/dev/null 2>&1\n";
/// The settings, services that failed, and files that a change has left.
const SETTINGS: &str = "
# The service of a device is started with it, perhaps after this script.
systemctl start 'pathtwin-*' --all 2>/dev/null
cat /proc/sys/net/ipv4/tcp_ecn
tc qdisc show dev up0 | sed 's/ [0-9a-f]*: / /'
ip -o link show up0 | grep -o 'mtu [0-9]*\\|qlen [0-9]*'
ethtool -k up0 | grep tx-tcp-segmentation
ip route
systemctl list-units --failed --no-legend --plain
find /etc -name '*pathtwin*' | sort | sed 's/^/left /'
";
const WITH: [&str; 6] = [
    "\nqdisc pfifo root refcnt 3 limit 77p",
    "\nmtu 1400\n",
    "\nqlen 555\n",
    "tx-tcp-segmentation: off",
    "\n10.9.0.0/16 via 10.1.0.2 dev up0 proto static congctl reno",
    "\nleft ",
];

fn stays_after_a_boot_and_is_gone_after_undo(devices: Devices) {
    let Some(system) = System::new(devices) else {
        return;
    };
    let before = system.boot(SETTINGS);
    assert!(before.contains("\nmtu 1500\n"), "{before}");
    assert!(!WITH.iter().any(|with| before.contains(with)), "{before}");
    assert!(!before.contains(".service"), "a service failed: {before}");

    let set = system.boot(&format!("{APPLY}{CONFIRM}{SETTINGS}"));
    assert!(set.starts_with("1\n"), "{set}");
    for with in WITH {
        assert!(set.contains(with), "{with}: {set}");
    }

    assert_eq!(system.boot(SETTINGS), set, "after the boot");
    let status = system.boot(&format!("{SETTINGS}pathtwin tune status"));
    let seen = "after a boot, its files have set everything";
    assert!(status.contains(seen), "{status}");

    assert_eq!(system.boot(&format!("{UNDO}{SETTINGS}")), before);
    assert_eq!(system.boot(SETTINGS), before, "after undo and a boot");
}

#[test]
fn a_change_in_files_is_there_after_a_boot_of_systemd_and_gone_after_undo() {
    stays_after_a_boot_and_is_gone_after_undo(Devices::Udev);
}

#[test]
fn a_change_in_files_is_there_after_a_boot_of_a_container_without_udev() {
    stays_after_a_boot_and_is_gone_after_undo(Devices::Container);
}
