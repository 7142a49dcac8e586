//! Congestion controls of hosts and routes.

use std::net::UdpSocket;

use super::{system::System, *};

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

/// A renewal by DHCP or a router advertisement writes its route anew, without what others have set.
#[test]
fn a_route_that_its_owner_rewrites_while_the_change_is_pending_is_left_to_the_owner() {
    if !scene() {
        return;
    }
    sh("ip route add 10.9.0.0/16 via 10.1.0.2 proto dhcp mtu 1400");
    let show = || sh("ip route show 10.9.0.0/16").trim().to_owned();
    let renewed = "10.9.0.0/16 via 10.1.0.2 dev v0 proto dhcp mtu 1300";
    let rollback = applied(&[cc("reno", "route:10.9.0.0/16")], || {
        assert!(show().contains("congctl reno"), "{}", show());
        sh(&format!("ip route replace {renewed}"));
    });
    assert_eq!(rollback.left.len(), 1, "{rollback}");
    assert_eq!(show(), renewed);
}

/// The kernel reports the time of an IPv6 route among what cannot be set.
#[test]
fn a_route_that_expires_is_refused() {
    if !scene() {
        return;
    }
    sh("ip -6 addr add fd00::1/64 dev v0 nodad");
    sh("ip -6 route add fd09::/32 via fd00::2 expires 600");
    let why = refused(cc("reno", "route:fd09::/32"));
    assert!(matches!(why.reason, RefusalReason::Advertised), "{why}");
}

/// The route of the earlier boot returned with the old congestion control.
#[test]
fn undoing_a_routes_congestion_control_after_a_boot_keeps_the_route_of_this_boot() {
    let name = "undoing_a_routes_congestion_control_after_a_boot_keeps_the_route_of_this_boot";
    let Some(mut system) = System::new(&format!("routes::{name}"), "etc/systemd/system/x") else {
        return;
    };
    let show = || sh("ip route show 10.9.0.0/16").trim().to_owned();
    let line = |via: &str| {
        sh("ip link set v0 up && ip addr add 10.1.0.1/24 dev v0");
        sh(&format!("ip route add 10.9.0.0/16 via {via} mtu 1400"));
    };
    line("10.1.0.2");
    let change = system.kept(&[cc("reno", "route:10.9.0.0/16")]);
    system.boot();
    line("10.1.0.3");
    let before = show();
    let script = change.files.iter().find(|file| file.executable).unwrap();
    sh(&format!("sh {}", script.path));
    assert!(show().contains("congctl reno"), "{}", show());
    system.undone(&change);
    assert_eq!(show(), before);

    // So in one boot, if the script ran again on another route.
    let change = system.kept(&[cc("reno", "route:10.9.0.0/16")]);
    let renewed = "10.9.0.0/16 via 10.1.0.4 dev v0 mtu 1300";
    sh(&format!("ip route replace {renewed}"));
    let script = change.files.iter().find(|file| file.executable).unwrap();
    sh(&format!("sh {}", script.path));
    let found = system.env(tune::pending).unwrap();
    assert!(found.compared.drifted.is_empty(), "{found:?}");
    system.undone(&change);
    assert_eq!(show(), renewed);
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

/// A dump of the routes has learned path MTUs as entries for one address. One was taken for the new
/// route, so that the change failed and its route stayed.
#[test]
fn a_learned_path_mtu_is_not_taken_for_a_route() {
    if !scene() {
        return;
    }
    let router = other_host();
    let line = || {
        sh("ip addr add 10.1.0.2/24 dev v1 && ip link set v1 up \
            && ip link add d0 mtu 1300 type veth peer name d1 && ip addr add 10.9.0.1/24 dev d0 \
            && ip link set d0 up && ip link set d1 up \
            && echo 1 >/proc/sys/net/ipv4/ip_forward");
    };
    router.run(line).unwrap();
    sh("ip route add 10.9.0.0/24 via 10.1.0.2 metric 100");
    let socket = UdpSocket::bind("10.1.0.1:0").unwrap();
    let is_learned = || {
        // The first one fails once the answer to an earlier one arrived.
        let _ = socket.send_to(&[0; 1400], "10.9.0.2:9");
        std::thread::sleep(Duration::from_millis(10));
        sh("ip route get 10.9.0.2").contains("mtu 1300")
    };
    assert!((0..500).any(|_| is_learned()));
    let before = sh("ip route show table all");
    let rollback = applied(&[cc("reno", "route:10.9.0.2/32")], || {
        let own = sh("ip route show 10.9.0.2/32");
        assert!(
            own.contains("via 10.1.0.2") && own.contains("congctl reno"),
            "{own}"
        );
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert_eq!(sh("ip route show table all"), before);
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
