//! Queues and shapers.

use super::*;

#[test]
fn a_queue_with_filters_is_refused_and_one_that_the_kernel_lacks() {
    if !scene() {
        return;
    }
    sh("tc qdisc add dev v0 root handle 1: htb default 1");
    let filter = "tc filter add dev v0 parent 1: protocol all prio 1 u32 match u32 0 0 classid 1:1";
    let added = Command::new("sh").args(["-c", filter]).status().unwrap();
    if added.success() {
        let why = refused(Setting::parse_queue("v0=pfifo").unwrap());
        assert!(matches!(why.reason, RefusalReason::Filters), "{why}");
    } else {
        println!("skipped: this kernel has no u32 filters");
    }
    sh("tc qdisc del dev v0 root");
    let lacking = ["cake", "fq", "fq_codel"].into_iter().find(|kind| {
        let add = format!("tc qdisc add dev v1 root {kind} && tc qdisc del dev v1 root");
        !Command::new("sh")
            .args(["-c", &add])
            .status()
            .unwrap()
            .success()
    });
    if let Some(kind) = lacking {
        let why = refused(Setting::parse_queue(&format!("v0={kind}")).unwrap());
        assert!(why.to_string().contains(kind), "{why}");
    }
}

/// Returns true if this kernel supports a shell command, which is undone.
fn has(line: &str, undo: &str) -> bool {
    let ran = |line: &str| Command::new("sh").args(["-c", line]).status().unwrap();
    let has = ran(line).success();
    let _ = ran(undo);
    has
}

#[test]
fn a_shaper_with_a_queue_is_set_up_and_leaves_nothing() {
    if !scene() {
        return;
    }
    let htb = "tc qdisc add dev v1 root handle 1: htb && tc qdisc del dev v1 root && \
               tc qdisc add dev v1 root fq_codel";
    if !has(htb, "tc qdisc del dev v1 root") {
        println!("skipped: this kernel has no htb or no fq_codel");
        return;
    }
    let show = || sh("tc qdisc show dev v0; tc class show dev v0");
    let before = show();
    let setting = Setting::parse_shape("v0=47.5mbit fq_codel").unwrap();
    let rollback = applied(&[setting], || {
        let during = show();
        assert!(during.contains("htb 1: root"), "{during}");
        assert!(during.contains("rate 47500Kbit"), "{during}");
        assert!(during.contains("parent 1:1"), "{during}");
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(show(), before);
}

#[test]
fn fq_beside_a_tunnel_of_another_program_is_said_to_drop_its_packets() {
    if !scene() {
        return;
    }
    let undo = "tc qdisc del dev v1 root; ip link del t0";
    if !has(
        "tc qdisc add dev v1 root fq && ip tuntap add t0 mode tun",
        undo,
    ) {
        println!("skipped: this kernel has no fq or no tun");
        return;
    }
    let notes = || {
        let all = planned(&[Setting::parse_queue("v0=fq").unwrap()]).unwrap();
        let all = all.warnings.iter().map(ToString::to_string);
        all.filter(|note| note.contains("one UDP flow")).count()
    };
    sh("ip tuntap add t1 mode tap && ip link set t1 up && ip tuntap add t0 mode tun");
    assert_eq!(notes(), 0, "a tunnel that is down, and a machine's device");
    sh("ip link set t0 up");
    assert_eq!(notes(), 1);
}

#[test]
fn a_shaper_of_received_packets_leaves_no_device_behind() {
    if !scene() {
        return;
    }
    let ifb = "ip link add i0 type ifb && tc qdisc add dev v1 clsact && tc filter add dev v1 ingress \
               matchall action mirred egress redirect dev i0";
    if !has(ifb, "ip link del i0; tc qdisc del dev v1 clsact") {
        println!("skipped: this kernel has no ifb, matchall or mirred");
        return;
    }
    let show = || sh("ip link show; tc qdisc show; tc filter show dev v0 ingress");
    let before = show();
    let setting = Setting::parse_shape_ingress("v0=30mbit fq").unwrap();
    let rollback = applied(std::slice::from_ref(&setting), || {
        let during = show();
        assert!(
            during.contains("mirred (Egress Redirect to device pt-ifb"),
            "{during}"
        );
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(show(), before);
    sh("tc qdisc add dev v0 clsact");
    let why = refused(setting);
    assert!(
        matches!(why.reason, RefusalReason::HookTaken { .. }),
        "{why}"
    );
}

/// The guest's kernel has the intermediate device.
#[test]
fn the_shaper_of_a_device_that_is_gone_goes_too_in_the_guest() {
    in_guest("queues::the_shaper_of_a_device_that_is_gone_goes_too");
}

/// Its intermediate device stayed, and refused a shaper for the next device of that number.
#[test]
fn the_shaper_of_a_device_that_is_gone_goes_too() {
    let again = "ip link del v0 && ip link add v0 type veth peer name v1";
    for event in ["ip link del v0", again] {
        if !scene() {
            return;
        }
        let setting = Setting::parse_shape_ingress("v0=30mbit fq").unwrap();
        if let Err(error) = planned(std::slice::from_ref(&setting)) {
            println!("skipped: {error}");
            return;
        }
        let rollback = applied(&[setting], || {
            assert!(sh("ip link show").contains("pt-ifb"));
            sh(event);
        });
        assert_eq!(rollback.left.len(), 1, "{rollback}");
        let links = sh("ip link show");
        assert!(!links.contains("pt-ifb"), "{event}: {links}");
    }
}

/// dualpi2 does not accept the options that it reports unless they are marked as nested. A change
/// that replaced it could once be neither undone nor kept.
#[test]
fn a_dualpi2_is_as_before_after_another_queue() {
    if !scene() {
        return;
    }
    // Without options, which older programs do not support.
    if !has("tc qdisc add dev v0 root handle 2: dualpi2", "true") {
        println!("skipped: this kernel has no dualpi2");
        return;
    }
    let show = || sh("tc qdisc show dev v0");
    let before = show();
    let rollback = applied(&[Setting::parse_queue("v0=pfifo limit=5").unwrap()], || {
        assert!(show().contains("pfifo"), "{}", show());
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(show(), before);
}
