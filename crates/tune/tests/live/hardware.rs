//! Queues, rings, processors and modules of a device with several queues.

use super::*;

/// A device with four queues; `false` where the test does not run.
fn device(test: &str) -> bool {
    if !in_own_process(&format!("hardware::{test}")) {
        return false;
    }
    sh("ip link set lo up");
    sh("ip link add v0 numrxqueues 4 numtxqueues 4 type veth \
        peer name v1 numrxqueues 4 numtxqueues 4");
    sh("ip link set v1 up && ip link set v0 up");
    true
}

fn masks() -> String {
    sh("cd /sys/class/net/v0/queues && grep . */rps_cpus */xps_cpus")
}

fn features() -> String {
    let all = sys::ethtool::feature_states("v0").unwrap();
    all.iter()
        .map(|(name, f)| format!("{name} {f:?}\n"))
        .collect()
}

fn channels() -> [u32; 2] {
    let now = sys::ethtool::channels("v0").unwrap();
    [now.rx, now.tx]
}

fn several() -> Vec<Setting> {
    let mut all = vec![
        Setting::parse_transmit_steering("v0=2").unwrap(),
        Setting::parse_receive_steering("v0=2").unwrap(),
        Setting::parse_channels("v0=rx=2 tx=2").unwrap(),
    ];
    all.extend(Setting::parse_udp_gro_forwarding("v0=on").unwrap());
    all
}

/// The masks of a removed queue are lost, and restored with the queue.
#[test]
fn queues_and_processors_are_as_before_after_all_of_them_changed() {
    if !device("queues_and_processors_are_as_before_after_all_of_them_changed") {
        return;
    }
    sh("cd /sys/class/net/v0/queues && echo 2 > rx-3/rps_cpus && echo 1 > tx-3/xps_cpus");
    let dump = || (channels(), masks(), features());
    let before = dump();
    assert_eq!(before.0, [4, 4]);
    let rollback = applied(&several(), || {
        assert_eq!(channels(), [2, 2]);
        // Two processors over two queues: each has its own.
        let masks = masks();
        for line in [
            "rx-0/rps_cpus:3",
            "rx-1/rps_cpus:3",
            "tx-0/xps_cpus:1",
            "tx-1/xps_cpus:2",
        ] {
            assert!(masks.contains(line), "{masks}");
        }
        let features = sys::ethtool::features("v0").unwrap();
        assert!(features["rx-udp-gro-forwarding"] && !features["rx-gro-list"]);
    });
    assert!(
        rollback.is_complete() && rollback.left.is_empty(),
        "{rollback}"
    );
    assert_eq!(dump(), before);
}

/// They are suspended and applied again in turns, as in a proof.
#[test]
fn queues_and_processors_can_be_set_aside_and_applied_again() {
    if !device("queues_and_processors_can_be_set_aside_and_applied_again") {
        return;
    }
    let dump = || (channels(), masks(), features());
    let before = dump();
    let rollback = applied_with(&several(), |env| {
        let with = dump();
        tune::set_aside(env, None).unwrap();
        assert_eq!(dump(), before);
        tune::set_again(env, None).unwrap();
        assert_eq!(dump(), with);
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(dump(), before);
}

/// The commands of a dry run have the same result as the change.
#[test]
fn what_the_commands_of_a_dry_run_set_is_what_the_change_asks_for() {
    if !device("what_the_commands_of_a_dry_run_set_is_what_the_change_asks_for") {
        return;
    }
    let steering = [
        Setting::parse_transmit_steering("v0=2").unwrap(),
        Setting::parse_receive_steering("v0=2").unwrap(),
    ];
    for shell in shells() {
        for setting in &steering {
            assert_eq!(
                planned(std::slice::from_ref(setting)).unwrap().steps.len(),
                1
            );
            for command in setting.commands() {
                sh(&format!("{shell} -c {}", quoted(&command)));
            }
            let left = planned(std::slice::from_ref(setting)).unwrap();
            assert!(left.steps.is_empty(), "{shell}: {}", masks());
        }
        sh("cd /sys/class/net/v0/queues && for f in */rps_cpus */xps_cpus; do echo 0 > $f; done");
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[test]
fn what_a_device_cannot_have_is_refused_with_its_limits() {
    if !device("what_a_device_cannot_have_is_refused_with_its_limits") {
        return;
    }
    let channels = |text: &str| refused(Setting::parse_channels(text).unwrap()).reason;
    assert!(matches!(
        channels("v0=rx=5"),
        RefusalReason::AboveMaximum { most: 4 }
    ));
    assert!(matches!(
        channels("v0=combined=2"),
        RefusalReason::NoneOfTheKind
    ));
    assert!(matches!(channels("v0=tx=0"), RefusalReason::NoQueueLeft));
    // Neither a veth nor loopback has rings.
    for device in ["v0", "lo"] {
        let rings = Setting::parse_rings(&format!("{device}=rx=512")).unwrap();
        let refusal = refused(rings);
        assert!(matches!(refusal.reason, RefusalReason::Unreadable(_)));
        assert!(
            refusal.text().to_string().contains("ethtool -g"),
            "{refusal}"
        );
    }
    sh("ip link add w0 numtxqueues 1 type veth peer name w1");
    let steering = refused(Setting::parse_transmit_steering("w0=1").unwrap());
    assert!(matches!(steering.reason, RefusalReason::OneTransmitQueue));
    let module = refused(Setting::parse_module("no-such-module").unwrap()).reason;
    assert!(matches!(
        module,
        RefusalReason::NoModule { .. } | RefusalReason::NoModules
    ));
}

/// A number of queues that somebody else has changed since is not restored.
#[test]
fn a_number_of_queues_set_by_somebody_else_is_unchanged() {
    if !device("a_number_of_queues_set_by_somebody_else_is_unchanged") {
        return;
    }
    let index = sh("cat /sys/class/net/v0/ifindex").trim().parse().unwrap();
    let rollback = applied(&[Setting::parse_channels("v0=rx=2").unwrap()], || {
        let mut eth = sys::ethtool::Ethtool::open().unwrap();
        eth.set_channels(index, [Some(3), None, None]).unwrap();
    });
    assert_eq!(rollback.left.len(), 1, "{rollback}");
    assert_eq!(channels(), [3, 4]);
}

fn queues(text: &str) -> Setting {
    Setting::parse_channels(text).unwrap()
}

/// By somebody else.
fn set_channels(rx: Option<u32>, tx: Option<u32>) {
    let index = sh("ip -o link show v0 | cut -d: -f1");
    let index = index.trim().parse().unwrap();
    let mut eth = sys::ethtool::Ethtool::open().unwrap();
    eth.set_channels(index, [rx, tx, None]).unwrap();
}

/// Bug: the masks of queues that the other number had removed were missed, and the undoing failed.
#[test]
fn a_number_of_queues_is_undone_where_somebody_has_set_the_other_one_since() {
    if !device("a_number_of_queues_is_undone_where_somebody_has_set_the_other_one_since") {
        return;
    }
    let rollback = applied(&[queues("v0=rx=2")], || set_channels(None, Some(2)));
    assert!(
        rollback.is_complete() && rollback.left.is_empty(),
        "{rollback}"
    );
    assert_eq!(channels(), [4, 2]);
}

#[test]
fn of_two_numbers_of_queues_each_is_undone_and_drifts_alone() {
    if !device("of_two_numbers_of_queues_each_is_undone_and_drifts_alone") {
        return;
    }
    in_env(|env| {
        let first = keep(env, &[queues("v0=rx=2")]).change.id;
        let second = keep(env, &[queues("v0=tx=2")]).change.id;
        assert_eq!((channels(), drifted(env)), ([2, 2], 0));
        set_channels(Some(3), None);
        let kept = tune::kept(env.folder.path()).unwrap();
        let found = tune::drifted(kept, env.host).unwrap().drifted;
        let ids: Vec<_> = found.iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [&first]);
        set_channels(Some(2), None);
        let why = model::text::Text::name("useless");
        let rollback = tune::undo_kept(env, &first, why).unwrap().unwrap();
        assert!(
            rollback.is_complete() && rollback.left.is_empty(),
            "{rollback}"
        );
        assert_eq!((channels(), drifted(env)), ([4, 2], 0));
        tune::undo(env, Some(second.as_str())).unwrap();
        assert_eq!(channels(), [4, 4]);
    });
}
