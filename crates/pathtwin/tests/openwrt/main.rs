//! Routers with OpenWrt's files: what `tune` wrote to them is there after a boot and an upgrade,
//! what it undid is gone.

#![allow(clippy::expect_used)]

#[path = "../common/mod.rs"]
mod common;
mod router;

use std::path::Path;

use router::Router;

const APPLY: &str = "pathtwin tune apply --set net.ipv4.tcp_ecn=1 --queue 'wan0=pfifo limit=77' \
                     --queue-length wan0=555 --mtu wan0=1400 --offload 'wan0=tso off' \
                     --set cc=reno --scope route:10.9.0.0/16 --window 60s >/tmp/said 2>&1 || \
                     cat /tmp/said\n";
const CONFIRM: &str = "pathtwin tune confirm --persist >/tmp/said 2>&1 || cat /tmp/said\n";
const UNDO: &str = "pathtwin tune undo $(basename /etc/pathtwin/tune/*.json .json) \
                    >/tmp/said 2>&1 || cat /tmp/said\n";
const SETTINGS: &str = "
sysctl -n net.ipv4.tcp_ecn
for device in wan0 lan0; do
    tc qdisc show dev $device | sed 's/ [0-9a-f]*: / /'
    ip -o link show $device | grep -o 'mtu [0-9]*\\|qlen [0-9]*'
    ethtool -k $device | grep tx-tcp-segmentation
done
ip route
";
const WITH: [&str; 5] = [
    "\nqdisc pfifo root refcnt 3 limit 77p",
    "\nmtu 1400\n",
    "\nqlen 555\n",
    "tx-tcp-segmentation: off",
    "\n10.9.0.0/16 via 10.1.0.2 dev wan0 proto static congctl reno",
];
const SEEN: &str = "after a boot, its files have set everything";

fn built() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_pathtwin"))
}

fn is_set(settings: &str) {
    assert!(settings.starts_with("1\n"), "{settings}");
    for with in WITH {
        assert!(settings.contains(with), "{with}: {settings}");
    }
}

#[test]
fn a_change_in_files_is_there_after_a_boot_and_nothing_is_left_after_undo() {
    let Some(router) = Router::new(built()) else {
        return;
    };
    stays_and_leaves_nothing(&router);
}

/// The static program of the package, for which nothing else is there than BusyBox.
#[test]
fn a_change_of_the_agent_is_there_after_a_boot_and_nothing_is_left_after_undo() {
    if let Some(router) = Router::new(&common::agent("x86_64")) {
        stays_and_leaves_nothing(&router);
    }
}

fn stays_and_leaves_nothing(router: &Router) {
    let (before, tree) = (router.boot(SETTINGS), router.tree());
    assert!(before.starts_with("0\n"), "{before}");
    assert!(!WITH.iter().any(|with| before.contains(with)), "{before}");

    let set = router.boot(&format!("{APPLY}{CONFIRM}{SETTINGS}"));
    is_set(&set);
    let written = router.tree();
    for file in [
        "/sysctl.d/98-pathtwin-",
        "/hotplug.d/iface/95-pathtwin-",
        "/keep.d/pathtwin-",
    ] {
        assert!(written.contains(file), "{written}");
    }

    assert_eq!(router.boot(SETTINGS), set, "after the boot");
    let status = router.boot("pathtwin tune status 2>&1");
    assert!(status.contains(SEEN), "{status}");

    assert_eq!(router.boot(&format!("{UNDO}{SETTINGS}")), before);
    assert_eq!(router.tree(), tree);
    assert_eq!(router.boot(SETTINGS), before, "after undo and a boot");
}

/// netifd sets an MTU itself; the rest is set by a script that it runs for each interface.
#[test]
fn the_mtu_is_a_section_of_network_and_scripts_act_only_when_their_device_comes_up() {
    let Some(router) = Router::new(built()) else {
        return;
    };
    let set = router.boot(&format!(
        "{APPLY}{CONFIRM}{SETTINGS}
uci show network | grep mtu >/tmp/mtu
echo; cat /tmp/mtu; uci changes"
    ));
    is_set(&set);
    assert!(set.contains("_wan0.mtu='1400'\n"), "{set}");
    let said = router.boot(
        "tc qdisc replace dev wan0 root pfifo limit 9
event() { ACTION=$1 INTERFACE=$2 DEVICE=$3 hotplug-call iface; tc qdisc show dev wan0; }
event ifdown wan wan0
event ifupdate wan wan0
event ifup lan lan0
event ifup wan6 wan0",
    );
    let limits: Vec<&str> = said
        .lines()
        .filter_map(|line| line.rsplit_once("limit "))
        .map(|(_, limit)| limit.trim())
        .collect();
    assert_eq!(limits, ["9p", "9p", "9p", "77p"], "{said}");
}

/// A queue of another program, set after the boot: named, and left alone by undoing.
#[test]
fn what_somebody_else_sets_after_the_boot_is_named() {
    let Some(router) = Router::new(built()) else {
        return;
    };
    is_set(&router.boot(&format!("{APPLY}{CONFIRM}{SETTINGS}")));
    let said = router.boot("sysctl -w net.ipv4.tcp_ecn=2 >/dev/null\npathtwin tune status 2>&1");
    assert!(said.contains("somebody else has set it to 2"), "{said}");
    assert!(!said.contains(SEEN), "{said}");
}

/// An upgrade keeps the script, and not the packages with the programs in it.
#[test]
fn what_a_missing_program_would_have_set_is_named_after_the_boot() {
    let Some(router) = Router::new(built()) else {
        return;
    };
    is_set(&router.boot(&format!("{APPLY}{CONFIRM}{SETTINGS}")));
    router.boot("rm /usr/sbin/tc");
    let said = router.boot("pathtwin tune status 2>&1");
    assert!(!said.contains(SEEN), "{said}");
    assert!(said.contains("queue of wan0"), "{said}");
}

#[test]
fn an_upgrade_keeps_the_files_and_the_journal() {
    let Some(router) = Router::new(built()) else {
        return;
    };
    let (before, tree) = (router.boot(SETTINGS), router.tree());
    let set = router.boot(&format!("{APPLY}{CONFIRM}{SETTINGS}"));
    is_set(&set);
    let router = router.upgraded();
    assert_eq!(router.boot(SETTINGS), set, "after the upgrade");
    assert_eq!(router.boot(&format!("{UNDO}{SETTINGS}")), before);
    assert_eq!(router.tree(), tree);
}

/// The journal is in flash, and what was pending is not set by the next boot.
#[test]
fn a_change_that_was_pending_when_the_power_was_cut_is_gone_after_the_boot() {
    let Some(router) = Router::new(built()) else {
        return;
    };
    let (before, tree) = (router.boot(SETTINGS), router.tree());
    is_set(&router.boot(&format!("{APPLY}{SETTINGS}")));
    assert_eq!(router.boot(SETTINGS), before);
    assert_eq!(router.tree(), tree);
    let listed = router.boot("pathtwin tune status >/dev/null 2>&1\npathtwin tune list");
    assert!(listed.contains("undone"), "{listed}");
}
