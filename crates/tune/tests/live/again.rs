//! Tests of scripts that set again, in the same boot, what a change has put into files.

use super::{
    system::{System, settings},
    *,
};

/// A second `up` in the same boot gives the queue another handle, and a new device another number:
/// both were taken for changes by somebody else, and nothing was undone.
#[test]
fn what_a_script_sets_again_in_the_same_boot_is_undone() {
    let Some(system) = System::of_systemd(
        "again",
        "what_a_script_sets_again_in_the_same_boot_is_undone",
    ) else {
        return;
    };
    let state = format!("run/NetworkManager/devices/{}", System::index());
    system.file(&state, "[device]\nmanaged=true\n");
    let before = System::state();
    let drifted = || system.env(tune::pending).unwrap().compared.drifted.len();
    for event in [
        "true",
        "ip link del v0 && ip link add v0 type veth peer name v1 && ip link set v1 up",
    ] {
        let change = system.kept(&settings());
        let again = || {
            sh(event);
            sh(&format!("{} v0 up", change.files[0].path));
        };
        let first = sh("tc qdisc show dev v0");
        again();
        assert_ne!(sh("tc qdisc show dev v0"), first);
        assert_eq!(drifted(), 0, "{event}");
        sh("tc qdisc change dev v0 root pfifo limit 9");
        assert_eq!(drifted(), 1, "{event}");
        again();
        system.undone(&change);
        assert_eq!(System::state(), before, "{event}");
    }
}

/// The guest's kernel has every queue.
#[test]
fn each_queue_that_a_script_sets_again_is_the_same_in_the_guest() {
    in_guest("again::each_queue_that_a_script_sets_again_is_the_same");
}

#[test]
fn each_queue_that_a_script_sets_again_is_the_same() {
    let name = "each_queue_that_a_script_sets_again_is_the_same";
    let Some(system) = System::of_systemd("again", name) else {
        return;
    };
    let before = System::state();
    for queue in [
        "fq flow_limit=150",
        "fq_codel target=9ms",
        "cake bandwidth=30mbit",
        "htb rate=30mbit queue=fq_codel",
        "pfifo limit=5",
        "bfifo limit=9000",
    ] {
        let setting = Setting::parse_queue(&format!("v0={queue}")).unwrap();
        if let Err(error) = planned(std::slice::from_ref(&setting)) {
            println!("skipped: {error}");
            continue;
        }
        let change = system.kept(&[setting]);
        let script = change.files.iter().find(|file| file.executable).unwrap();
        sh(&format!("sh {}", script.path));
        let found = system.env(tune::pending).unwrap();
        assert!(found.compared.drifted.is_empty(), "{queue}: {found:?}");
        system.undone(&change);
        assert_eq!(System::state(), before, "{queue}");
    }
}

/// The value of somebody else, on the device of the change.
#[test]
fn what_somebody_sets_after_a_script_in_the_same_boot_stays() {
    let name = "what_somebody_sets_after_a_script_in_the_same_boot_stays";
    let Some(system) = System::of_systemd("again", name) else {
        return;
    };
    let change = system.kept(&settings());
    sh("tc qdisc replace dev v0 root handle 7: pfifo limit 9 && ip link set v0 mtu 1300");
    let with = System::state();
    let id = Some(change.id.as_str());
    let (_, rollback) = system.env(|env| tune::undo(env, id)).unwrap();
    assert_eq!(rollback.left.len(), 2, "{rollback}");
    assert_eq!(System::state(), with);
}

/// The intermediate device of a connection that was set up again stayed.
#[test]
fn a_shaper_that_a_script_sets_on_a_new_device_is_undone_in_the_guest() {
    in_guest("again::a_shaper_that_a_script_sets_on_a_new_device_is_undone");
}

#[test]
fn a_shaper_that_a_script_sets_on_a_new_device_is_undone() {
    let name = "a_shaper_that_a_script_sets_on_a_new_device_is_undone";
    let Some(system) = System::of_systemd("again", name) else {
        return;
    };
    let setting = Setting::parse_shape_ingress("v0=30mbit fq").unwrap();
    if let Err(error) = planned(std::slice::from_ref(&setting)) {
        println!("skipped: {error}");
        return;
    }
    let change = system.kept(&[setting]);
    let script = change.files.iter().find(|file| file.executable).unwrap();
    sh("ip link del v0 && ip link add v9 type veth && ip link add v0 type veth peer name v1");
    sh(&format!("sh {}", script.path));
    let devices = sh("ip link show type ifb | grep -c pt-ifb");
    assert_eq!(devices.trim(), "1", "that of the first device is left");
    let found = system.env(tune::pending).unwrap();
    assert!(found.compared.drifted.is_empty(), "{found:?}");
    system.undone(&change);
    let links = sh("ip link show; tc qdisc show dev v0");
    assert!(
        !links.contains("pt-ifb") && !links.contains("clsact"),
        "{links}"
    );
}
