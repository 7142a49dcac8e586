//! A host that boots again: what `tune` wrote to files stays, and what it undid is gone.
//!
//! Each boot is a lab guest with a new kernel and the id of another boot; its disk is carried from
//! one to the next. At boot, a link is set up with its queue and routes, the real `systemd-sysctl`
//! reads the kernel parameters, and the services' own commands are run, all in the namespace of the
//! first process.

#![allow(clippy::expect_used)]

#[path = "../common/mod.rs"]
mod common;
mod machine;
mod power;

use machine::machine;

const APPLY: &str = "\"$PATHTWIN\" tune apply --set net.ipv4.tcp_ecn=1 --queue up0=fq_codel \
                     --set cc=bbr --scope route:10.9.0.0/16 --window 60s >/dev/null\n";
const PERSIST: &str = "\"$PATHTWIN\" tune confirm --persist >/dev/null\n";
const UNDO: &str =
    "\"$PATHTWIN\" tune undo $(basename /tmp/disk/journal/*.json .json) >/dev/null\n";
const STATUS: &str = "\"$PATHTWIN\" tune status 2>&1 || true";
const SETTINGS: &str = "settings";
/// The settings, and the files that a change has left.
const LEFT: &str = "settings\nfind /etc -name '*pathtwin*' | sed 's/^/left /'";

fn is_set(settings: &str) -> bool {
    let route =
        "10.9.0.0/16 via 10.1.0.2 dev up0 mtu lock 1400 advmss 1300 initcwnd 20 congctl bbr";
    settings.starts_with("1\nqdisc fq_codel ") && settings.contains(route)
}

#[test]
fn each_boot_has_its_own_id_and_the_namespace_of_the_first_process() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let script = "cat /proc/sys/kernel/random/boot_id\n\
                  [ $(readlink /proc/self/ns/net) = $(readlink /proc/1/ns/net) ]";
    let first = machine.boot(script);
    assert_ne!(machine.boot(script), first);
}

#[test]
fn a_persisted_change_is_there_after_a_boot_and_gone_after_undo_and_a_boot() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let before = machine.boot(SETTINGS);
    assert!(!before.starts_with("1\n"), "{before}");
    assert!(before.contains("\nqdisc fq "), "{before}");

    let set = machine.boot(&format!("{APPLY}{PERSIST}\nsettings"));
    assert!(is_set(&set), "{set}");

    assert_eq!(machine.boot(SETTINGS), set, "after the boot");
    let checked = machine.boot("\"$PATHTWIN\" tune list");
    assert!(checked.contains("confirmed"), "{checked}");

    assert_eq!(
        machine.boot(&format!("{UNDO}\n{LEFT}")),
        before,
        "nothing is left"
    );
    assert_eq!(machine.boot(LEFT), before, "after undo and a boot");
}

/// A file that comes later in the order, put there after the change was persisted.
#[test]
fn what_a_later_file_overrides_is_drift_after_a_boot() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let before = machine.boot(SETTINGS);
    let other = "/etc/sysctl.d/99-other.conf";
    let set = machine.boot(&format!(
        "{APPLY}{PERSIST}\nsettings\necho net.ipv4.tcp_ecn = 0 >{other}"
    ));
    assert!(is_set(&set), "{set}");
    const DRIFT: &str = "net.ipv4.tcp_ecn = 1: somebody else has set it to 0";
    const SEEN: &str = "after a boot, its files have set everything";

    let drifted = machine.boot(&format!("{STATUS}\nrm {other}"));
    assert!(drifted.contains(DRIFT), "{drifted}");
    assert_eq!(drifted.matches("somebody else").count(), 1, "{drifted}");
    assert!(!drifted.contains(SEEN), "{drifted}");

    let seen = machine.boot(STATUS);
    assert!(seen.contains(SEEN), "{seen}");
    assert!(!seen.contains("somebody else"), "{seen}");

    let undone = machine.boot(&format!(
        "echo net.ipv4.tcp_ecn = 0 >{other}\n{UNDO}\n{LEFT}"
    ));
    assert_eq!(undone, before, "nothing is left");
    let after = machine.boot(LEFT);
    let rest = |settings: &str| settings.split_once('\n').unwrap().1.to_owned();
    assert!(after.starts_with("0\n"), "the other file stays: {after}");
    assert_eq!(rest(&after), rest(&before), "after undo and a boot");
}

#[test]
fn a_change_that_was_pending_when_the_power_was_cut_is_gone_after_the_boot() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let before = machine.boot(SETTINGS);
    let pending = machine.boot(&format!("{APPLY}settings"));
    assert!(is_set(&pending), "{pending}");
    assert_eq!(machine.boot(SETTINGS), before);
    let status = "\"$PATHTWIN\" tune status >/tmp/status || true\nsettings\ncat /tmp/status";
    let status = machine.boot(status);
    let rest = status.strip_prefix(before.as_str()).expect("as before");
    assert!(!rest.contains("not confirmed"), "{rest}");
    // The host is free for the next change.
    let next = machine.boot(&format!("{APPLY}settings"));
    assert_eq!(next, pending);
}

#[test]
fn a_change_confirmed_without_files_ends_with_the_boot() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    let before = machine.boot(SETTINGS);
    let confirm = "\"$PATHTWIN\" tune confirm >/dev/null\nsettings";
    let set = machine.boot(&format!("{APPLY}{confirm}"));
    assert!(is_set(&set), "{set}");
    assert_eq!(machine.boot(SETTINGS), before);
}

/// A filter sends what is received through the queue of an intermediate device.
#[test]
fn shapers_of_both_directions_are_there_after_a_boot_and_gone_after_undo() {
    let Some((_folder, mut machine)) = machine() else {
        return;
    };
    const SHAPE: &str = "\"$PATHTWIN\" tune apply --shape 'up0=50mbit fq_codel' \
                         --shape-ingress up0=40mbit --window 60s >/dev/null\n";
    const QUEUES: &str = "
for device in up0 $(ip -o link show type ifb | grep -o 'pt-ifb[0-9]*'); do
    echo $device
    tc qdisc show dev $device | sed 's/ [0-9a-f]*: / /'
    tc class show dev $device | grep htb | sed 's/ leaf [0-9a-f]*://'
    tc filter show dev $device ingress
done
find /etc -name '*pathtwin*' | sort";
    let before = machine.boot(QUEUES);
    let set = machine.boot(&format!("{SHAPE}{PERSIST}{QUEUES}"));
    for with in [
        "class htb 1:1 root",
        "rate 50Mbit",
        "qdisc fq_codel parent 1:1",
        "matchall",
        "qdisc cake root refcnt 2 bandwidth 40Mbit",
    ] {
        assert!(set.contains(with), "{with}: {set}");
    }
    let booted = machine.boot(&format!("{QUEUES}\n{STATUS}"));
    let status = booted.strip_prefix(&set).expect("as before the boot");
    assert!(status.contains("its files have set everything"), "{status}");
    assert_eq!(machine.boot(&format!("{UNDO}{QUEUES}")), before);
    assert_eq!(machine.boot(QUEUES), before, "after undo and a boot");
}
