//! Ways to cut a host off or to leave it changed, each tried in a separate network namespace.

#![allow(clippy::unwrap_used)]

use std::{process::Command, time::Duration};

use model::change::{Change, ProcessId, Setting, State, parse::Scope};
use sys::{Netns, process::Process};
use tune::{
    Arm, BootClock, Env, Folder, Live, NewTcp, Refusal, RefusalReason, Request, TuneError,
    Unobserved, fresh_id, plan,
};

/// Moves this thread into a namespace with a device `v0`; `false`, with a message, without root.
fn scene() -> bool {
    match Netns::create().and_then(|ns| ns.enter()) {
        Ok(()) => {}
        Err(error) => {
            println!("skipped: {error}");
            return false;
        }
    }
    for line in [
        "ip link set lo up",
        "ip link add v0 type veth peer name v1",
        "ip link set v1 up",
        "ip link set v0 up",
        "ip addr add 10.1.0.1/24 dev v0",
    ] {
        sh(line);
    }
    true
}

fn sh(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn planned(settings: &[Setting]) -> Result<Change, TuneError> {
    let request = Request {
        settings: settings.iter().map(|s| (s.clone(), None)).collect(),
        probes: Vec::new(),
        program: "test".to_owned(),
        created_unix_s: None,
    };
    plan(&mut Live::open().unwrap(), &request, fresh_id().unwrap())
}

fn refused(setting: Setting) -> Refusal {
    match planned(&[setting]) {
        Err(TuneError::Refused(mut all)) if all.len() == 1 => all.remove(0),
        other => panic!("{other:?}"),
    }
}

/// Applies settings, calls `during`, and undoes them.
fn applied(settings: &[Setting], during: impl FnOnce()) -> tune::Rollback {
    applied_with(settings, |_| during())
}

fn applied_with(settings: &[Setting], during: impl FnOnce(&mut Env<'_>)) -> tune::Rollback {
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::open(folder.path()).unwrap();
    let own = Process::own().unwrap();
    let own = ProcessId {
        pid: own.pid,
        start_ticks: own.start_ticks,
    };
    let mut env = Env {
        folder: &folder,
        host: &mut Live::open().unwrap(),
        clock: &BootClock,
        observer: &mut Unobserved,
    };
    let mut arm = Arm {
        window: Duration::from_secs(60),
        controller: own,
        // No process is killed here, so that this one may act as the keeper.
        keeper: &mut |_| Ok(own),
        prober: &mut NewTcp,
    };
    let change = tune::apply(&mut env, &planned(settings).unwrap(), &mut arm).unwrap();
    assert_eq!(change.state, State::Applied);
    during(&mut env);
    tune::undo(&mut env, None).unwrap().1
}

fn cc(name: &str, scope: &str) -> Setting {
    let scope: Scope = scope.parse().unwrap();
    Setting::parse_set(&format!("cc={name}"), scope).unwrap()
}

fn sysctl(text: &str) -> Setting {
    Setting::parse_set(text, Scope::Host).unwrap()
}

/// Below 1280 bytes the kernel removes IPv6 from the device, and raising the MTU again returns the
/// link-local address only.
#[test]
fn an_mtu_below_1280_is_refused_on_a_device_with_ipv6() {
    if !scene() {
        return;
    }
    sh("ip addr add fd00::1/64 dev v0 nodad");
    let why = refused(Setting::parse_mtu("v0=1279").unwrap());
    assert!(
        matches!(why.reason, RefusalReason::BelowIpv6 { least: 1280, .. }),
        "{why}"
    );
    assert!(planned(&[Setting::parse_mtu("v0=1280").unwrap()]).is_ok());
    let why = refused(Setting::parse_mtu("v0=60").unwrap());
    assert!(
        matches!(why.reason, RefusalReason::BelowIpv4 { least: 576 }),
        "{why}"
    );
}

/// The kernel lowers the MTU of IPv6 routes with that of their device, and does not raise it again.
#[test]
fn ipv6_routes_have_their_own_mtu_again_after_that_of_the_device_went_back() {
    if !scene() {
        return;
    }
    sh("ip addr add fd00::1/64 dev v0 nodad");
    sh("ip -6 route add fd09::/32 via fd00::2 mtu 1450 metric 70");
    let show = || sh("ip -6 route show; ip link show v0 | grep -o 'mtu [0-9]*'");
    let before = show();
    let rollback = applied(&[Setting::parse_mtu("v0=1300").unwrap()], || {
        assert!(!show().contains("mtu 1450"), "{}", show());
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(show(), before);
}

/// A VLAN follows the MTU of its device down. The MTU of a device is that of its IPv6 routes too:
/// the effect of a later step on an earlier one was mistaken for a change by another program.
#[test]
fn a_route_whose_mtu_followed_that_of_its_device_can_be_set_aside_and_applied_again() {
    if !scene() {
        return;
    }
    sh("ip -6 addr add fd00::1/64 dev v0 nodad");
    sh("ip -6 route add fd09::/32 via fd00::2 mtu 1450");
    let routes = || sh("ip -6 route show fd09::/32; ip link show v0");
    let before = routes();
    let settings = [
        cc("reno", "route:fd09::/32"),
        Setting::parse_mtu("v0=1400").unwrap(),
    ];
    let rollback = applied_with(&settings, |env| {
        let with = routes();
        assert!(with.contains("congctl reno") && with != before, "{with}");
        tune::set_aside(env, None).unwrap();
        assert_eq!(routes(), before);
        tune::set_again(env, None).unwrap();
        assert_eq!(routes(), with);
    });
    assert!(
        rollback.is_complete() && rollback.left.is_empty(),
        "{rollback}"
    );
    assert_eq!(routes(), before);
}

#[test]
fn devices_above_have_their_mtu_again() {
    if !scene() {
        return;
    }
    let vlan = "ip link add link v0 name v0.7 type vlan id 7 && ip link set v0.7 up";
    if !Command::new("sh")
        .args(["-c", vlan])
        .status()
        .unwrap()
        .success()
    {
        println!("skipped: this kernel has no VLANs");
        return;
    }
    let show = || sh("ip link show v0.7 | grep -o 'mtu [0-9]*'");
    let before = show();
    let rollback = applied(&[Setting::parse_mtu("v0=1400").unwrap()], || {
        assert_eq!(show(), "mtu 1400\n");
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(show(), before);
}

/// `ip route change … congctl X` drops all other metrics.
#[test]
fn a_routes_other_metrics_survive_a_congestion_control_and_its_undoing() {
    if !scene() {
        return;
    }
    sh("ip route add 10.9.0.0/16 via 10.1.0.2 mtu lock 1400 advmss 1300 initcwnd 20");
    let show = || sh("ip route show 10.9.0.0/16").trim().to_owned();
    let before = show();
    let rollback = applied(&[cc("reno", "route:10.9.0.0/16")], || {
        let during = show();
        for metric in [
            "mtu lock 1400",
            "advmss 1300",
            "initcwnd 20",
            "congctl reno",
        ] {
            assert!(during.contains(metric), "{during}");
        }
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(show(), before);
}

#[test]
fn a_prefix_without_a_route_gets_one_and_loses_it_again() {
    if !scene() {
        return;
    }
    sh("ip route add default via 10.1.0.2 mtu 1300");
    let before = sh("ip route show");
    let rollback = applied(&[cc("reno", "route:203.0.113.0/24")], || {
        let own = sh("ip route show 203.0.113.0/24");
        assert!(
            own.contains("via 10.1.0.2") && own.contains("mtu 1300"),
            "{own}"
        );
        assert!(own.contains("congctl reno"), "{own}");
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(sh("ip route show"), before);
}

#[test]
fn a_route_of_another_programs_table_is_left_to_it() {
    if !scene() {
        return;
    }
    sh("ip rule add to 100.64.0.0/10 lookup 52 && ip route add 100.64.0.0/10 dev v0 table 52");
    let why = refused(cc("reno", "route:100.64.0.0/10"));
    assert!(
        matches!(why.reason, RefusalReason::OtherTable { table: 52 }),
        "{why}"
    );
}

/// `ip_forward` resets many others, and a key is a secret.
#[test]
fn parameters_that_could_not_be_undone_are_refused() {
    if !scene() {
        return;
    }
    for text in [
        "net.ipv4.ip_forward=1",
        "net.ipv6.conf.all.disable_ipv6=1",
        "net.ipv4.tcp_fastopen_key=1",
        "kernel.panic=1",
    ] {
        let _ = refused(sysctl(text));
    }
    let why = refused(sysctl("net.ipv4.tcp_rmem=4096 9"));
    assert!(
        matches!(
            why.reason,
            RefusalReason::ValueCount {
                has: 3,
                given: 2,
                ..
            }
        ),
        "{why}"
    );
}

/// A namespace may have a default that it could not choose again.
#[test]
fn a_congestion_control_without_a_way_back_is_refused() {
    if !scene() {
        return;
    }
    let allowed = sh("cat /proc/sys/net/ipv4/tcp_allowed_congestion_control");
    let available = sh("cat /proc/sys/net/ipv4/tcp_available_congestion_control");
    let closed = available
        .split_whitespace()
        .find(|cc| !allowed.split_whitespace().any(|a| a == *cc));
    match closed {
        Some(cc_name) => {
            let why = refused(cc(cc_name, "host"));
            assert!(
                matches!(why.reason, RefusalReason::NotAllowed { .. }),
                "{why}"
            );
        }
        None => println!("skipped: this kernel allows all it has"),
    }
    let why = refused(cc("nosuch", "host"));
    assert!(why.to_string().contains("modprobe"), "{why}");
}

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

#[test]
fn a_device_that_was_replaced_meanwhile_is_not_touched() {
    if !scene() {
        return;
    }
    let setting = Setting::parse_mtu("v0=1400").unwrap();
    let rollback = applied(&[setting], || {
        sh(
            "ip link del v0 && ip link add v9 type veth peer name v8 && ip link add v0 mtu 1234 type veth",
        );
    });
    assert_eq!(rollback.left.len(), 1, "{rollback:?}");
    assert!(sh("ip link show v0").contains("mtu 1234"));
}

#[test]
fn a_value_that_the_kernel_refuses_undoes_the_steps_before_it() {
    if !scene() {
        return;
    }
    let before = sh("cat /proc/sys/net/ipv4/tcp_notsent_lowat");
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::open(folder.path()).unwrap();
    let own = Process::own().unwrap();
    let own = ProcessId {
        pid: own.pid,
        start_ticks: own.start_ticks,
    };
    let mut env = Env {
        folder: &folder,
        host: &mut Live::open().unwrap(),
        clock: &BootClock,
        observer: &mut Unobserved,
    };
    let settings = [
        sysctl("net.ipv4.tcp_notsent_lowat=70000"),
        sysctl("net.ipv4.tcp_ecn=99"),
    ];
    let mut arm = Arm {
        window: Duration::from_secs(60),
        controller: own,
        keeper: &mut |_| Ok(own),
        prober: &mut NewTcp,
    };
    let failed = tune::apply(&mut env, &planned(&settings).unwrap(), &mut arm);
    assert!(
        matches!(failed, Err(TuneError::Step { step: 1, .. })),
        "{failed:?}"
    );
    assert_eq!(sh("cat /proc/sys/net/ipv4/tcp_notsent_lowat"), before);
}

/// Returns true if this kernel supports what a shell command needs; leaves nothing behind.
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

/// Some offloads switch others; those follow back.
#[test]
fn an_offload_and_those_that_follow_it_are_as_before() {
    if !scene() {
        return;
    }
    let show = || sys::ethtool::feature_states("v0").unwrap();
    let before = show();
    let gso = Setting::parse_offload("v0=gso off").unwrap();
    assert!(before["tx-generic-segmentation"].active);
    let rollback = applied(&[gso], || {
        assert!(!show()["tx-generic-segmentation"].active);
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(show(), before);
    let why = refused(Setting::parse_offload("v0=no-such-thing on").unwrap());
    assert!(matches!(why.reason, RefusalReason::NoOffload), "{why}");
}

#[test]
fn the_mss_clamp_is_a_table_of_its_own_and_leaves_nothing() {
    if !scene() {
        return;
    }
    let mine = "nft add table inet mine && nft add chain inet mine c";
    if !Command::new("sh")
        .args(["-c", mine])
        .status()
        .is_ok_and(|s| s.success())
    {
        println!("skipped: no nf_tables in this kernel, or no program nft");
        return;
    }
    let before = sh("nft list ruleset");
    let clamp = || Setting::parse_mss_clamp("mtu").unwrap();
    let rollback = applied(&[clamp()], || {
        let during = sh("nft list ruleset");
        assert!(during.contains("table inet pathtwin"), "{during}");
        assert!(during.contains("maxseg size set rt mtu"), "{during}");
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(sh("nft list ruleset"), before);
    sh("nft add table inet pathtwin");
    let why = refused(clamp());
    assert!(
        matches!(why.reason, RefusalReason::TableExists { .. }),
        "{why}"
    );
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
