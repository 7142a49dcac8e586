//! Parameters, offloads, the clamp, and devices that go.

use super::*;

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

#[test]
fn a_congestion_control_on_a_host_that_forwards_is_said_to_be_for_its_own_connections() {
    if !scene() {
        return;
    }
    sh("ip route add 10.9.0.0/16 via 10.1.0.2 && ip route add fd01::/16 dev v0");
    let notes = |setting| -> Vec<String> {
        let all = planned(&[setting]).unwrap().warnings;
        let all = all.iter().map(ToString::to_string);
        all.filter(|note| note.contains("forwards packets"))
            .collect()
    };
    let cases = [
        ("host", "net.ipv4.ip_forward"),
        ("host", "net.ipv6.conf.all.forwarding"),
        ("route:10.9.0.0/16", "net.ipv4.ip_forward"),
        ("route:fd01::/16", "net.ipv6.conf.all.forwarding"),
    ];
    let forward = |v4, v6| {
        sh(&format!("echo {v4} >/proc/sys/net/ipv4/ip_forward"));
        sh(&format!(
            "echo {v6} >/proc/sys/net/ipv6/conf/all/forwarding"
        ));
    };
    for (scope, parameter) in cases {
        forward(0, 0);
        assert!(notes(cc("reno", scope)).is_empty(), "{scope}");
        let is_ipv6 = parameter.contains("ipv6");
        forward(u8::from(!is_ipv6), u8::from(is_ipv6));
        let found = notes(cc("reno", scope));
        assert_eq!(found.len(), 1, "{scope}: {found:?}");
        assert!(found[0].contains(parameter), "{found:?}");
        if scope != "host" {
            forward(u8::from(is_ipv6), u8::from(!is_ipv6));
            assert!(notes(cc("reno", scope)).is_empty(), "{scope}");
        }
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

/// It was said to be gone, and the change to be undone.
#[test]
fn a_device_that_was_renamed_meanwhile_has_its_old_values_again() {
    let rename = |from: &str, to: &str| {
        sh(&format!(
            "ip link set {from} down && ip link set {from} name {to} && ip link set {to} up"
        ));
    };
    let show = |device: &str| {
        let link = format!(r"ip -o link show {device} | grep -o 'mtu [0-9]*\|qlen [0-9]*'");
        let queue = format!("tc qdisc show dev {device} | sed 's/ dev [^ ]*//'");
        sh(&format!("{link}; {queue}"))
    };
    for is_taken in [false, true] {
        if !scene() {
            return;
        }
        let before = show("v0");
        let settings = [
            Setting::parse_mtu("v0=1400").unwrap(),
            Setting::parse_queue("v0=pfifo limit=5").unwrap(),
            Setting::parse_queue_length("v0=77").unwrap(),
        ];
        let rollback = applied(&settings, || {
            rename("v0", "w0");
            if is_taken {
                sh("ip link add v0 mtu 1234 type veth peer name v9");
            }
            assert_ne!(show("w0"), before);
        });
        assert!(
            rollback.is_complete() && rollback.left.is_empty(),
            "{rollback}"
        );
        assert_eq!(show("w0"), before);
        assert!(!is_taken || show("v0").contains("mtu 1234"));
    }
}

#[test]
fn a_value_that_the_kernel_refuses_undoes_the_steps_before_it() {
    if !scene() {
        return;
    }
    let before = sh("cat /proc/sys/net/ipv4/tcp_notsent_lowat");
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::open(&folder.path().join("tune")).unwrap();
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
        prober: &mut NewFlows,
    };
    let failed = tune::apply(&mut env, &planned(&settings).unwrap(), &mut arm);
    assert!(
        matches!(failed, Err(TuneError::Step { step: 1, .. })),
        "{failed:?}"
    );
    assert_eq!(sh("cat /proc/sys/net/ipv4/tcp_notsent_lowat"), before);
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
