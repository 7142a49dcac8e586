//! Tests of the MTU of links, and of the values that follow it.

use super::*;

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
fn ipv6_routes_regain_their_mtu_after_that_of_the_device_is_restored() {
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

/// A VLAN follows the MTU of its device down.
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

/// They were taken for a failure, at each attempt again, though the MTU was back.
#[test]
fn an_mtu_is_undone_although_routes_and_devices_came_and_went() {
    for event in [
        "ip -6 route add fd0a::/32 via fd00::2 mtu 1350",
        "ip -6 route del fd09::/32",
        "echo 1 >/proc/sys/net/ipv6/conf/v0/disable_ipv6",
        "ip link add link v0 name m0 type macvlan",
        "ip link add link v0 name v0.7 type vlan id 7",
        "ip link add b0 type bridge && ip link set v0 master b0",
        "ip link del above",
    ] {
        if !scene() {
            return;
        }
        sh("ip -6 addr add fd00::1/64 dev v0 nodad");
        sh("ip -6 route add fd09::/32 via fd00::2 mtu 1450");
        sh("ip link add link v0 name above type macvlan || ip link add above type dummy");
        let rollback = applied(&[Setting::parse_mtu("v0=1400").unwrap()], || {
            let happened = Command::new("sh").args(["-c", event]).status();
            if !happened.unwrap().success() {
                println!("skipped: this kernel cannot: {event}");
            }
        });
        assert!(
            rollback.is_complete() && rollback.left.is_empty(),
            "{event}: {rollback}"
        );
        let link = sh("ip link show v0");
        assert!(link.contains("mtu 1500"), "{event}: {link}");
    }
}

/// A router's default route became one that stays without the router.
#[test]
fn a_route_of_router_advertisements_still_expires_after_an_mtu_is_undone() {
    if !scene() {
        return;
    }
    sh("ip -6 addr add fd00::1/64 dev v0 nodad");
    sh("ip -6 route add default via fd00::2 proto ra metric 1024 mtu 1492 expires 600");
    sh("ip -6 route add fd09::/32 via fd00::2 proto kernel mtu 1450 expires 600");
    let show = || sh("ip -6 route show | grep expires");
    assert_eq!(show().lines().count(), 2, "{}", show());
    let rollback = applied(&[Setting::parse_mtu("v0=1400").unwrap()], || {
        assert_eq!(show().matches("mtu 1400").count(), 2, "{}", show());
    });
    assert!(rollback.is_complete(), "{rollback}");
    let link = sh("ip link show v0");
    assert!(link.contains("mtu 1500"), "{link}");
    assert_eq!(show().lines().count(), 2, "{}", sh("ip -6 route show"));
}
