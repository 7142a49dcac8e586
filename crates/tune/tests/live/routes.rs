//! Congestion controls of hosts and routes.

use super::*;

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
