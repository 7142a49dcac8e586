#![allow(clippy::unwrap_used)]
//! Goldens are the messages that the named commands of iproute2 6.1 sent; `v0` has index 3.

use std::net::IpAddr;

use super::address::{address_message, neighbour_message, route_message};
use super::*;
use crate::testutil::{golden, netns, wire};

const GOLDENS: &str = include_str!("goldens.txt");

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn a_veth_pair_matches_iproute2() {
    let near = NewLink {
        mtu: Some(1400),
        mac: Some([2, 0, 0, 0, 0, 1]),
        txqueuelen: Some(77),
        queues: Some(1),
        ..NewLink::named("a0")
    };
    let far = NewLink {
        mtu: Some(1300),
        mac: Some([2, 0, 0, 0, 0, 2]),
        ..NewLink::named("a1")
    };
    let command = "ip link add mtu 1400 address 02:00:00:00:00:01 txqueuelen 77 numtxqueues 1 \
                   numrxqueues 1 name a0 type veth peer mtu 1300 address 02:00:00:00:00:02 name a1";
    assert_eq!(wire(veth_message(&near, &far)), golden(GOLDENS, command));
}

#[test]
fn addresses_routes_and_neighbours_match_iproute2() {
    let same = |m, command| assert_eq!(wire(m), golden(GOLDENS, command), "{command}");
    same(
        address_message(3, ip("10.1.2.3"), 24),
        "ip addr add 10.1.2.3/24 dev v0",
    );
    same(
        address_message(3, ip("fd00::1"), 64),
        "ip addr add fd00::1/64 dev v0 nodad",
    );
    let route = |to: &str, len, via: Option<&str>, metric| {
        route_message(&Route {
            to: (ip(to), len),
            via: via.map(ip),
            dev: Some(3),
            metric,
        })
    };
    same(
        route("0.0.0.0", 0, Some("10.1.2.1"), None),
        "ip route replace default via 10.1.2.1 dev v0 proto static",
    );
    same(
        route("10.9.0.0", 16, None, None),
        "ip route replace 10.9.0.0/16 dev v0 proto static",
    );
    same(
        route("fd01::", 64, Some("fd00::2"), Some(5)),
        "ip route replace fd01::/64 via fd00::2 dev v0 metric 5 proto static",
    );
    same(
        neighbour_message(3, ip("10.1.2.1"), [2, 0, 0, 0, 0, 9]),
        "ip neigh replace 10.1.2.1 lladdr 02:00:00:00:00:09 dev v0 nud permanent",
    );
}

#[test]
fn a_path_between_two_namespaces() {
    let (Some(one), Some(two)) = (netns(), netns()) else {
        return;
    };
    let mut nl = one.route().unwrap();
    let mac = [2, 0, 0, 0, 0, 7];
    let near = NewLink {
        mtu: Some(1400),
        mac: Some(mac),
        ..NewLink::named("near")
    };
    let far = NewLink {
        netns: Some(two.fd()),
        mtu: Some(1400),
        ..NewLink::named("far")
    };
    create_veth(&mut nl, &near, &far).unwrap();
    let index = super::index(&mut nl, "near").unwrap();
    set_up(&mut nl, index).unwrap();
    let shown = show(&mut nl, index).unwrap();
    assert_eq!(
        (shown.name.as_str(), shown.kind.as_deref()),
        ("near", Some("veth"))
    );
    assert_eq!((shown.mtu, shown.up, shown.mac), (1400, true, Some(mac)));
    let mut there = two.route().unwrap();
    let names: Vec<String> = list(&mut there)
        .unwrap()
        .into_iter()
        .map(|l| l.name)
        .collect();
    assert_eq!(names, ["lo", "far"]);
    assert!(super::index(&mut there, "near").is_err());
}

#[test]
fn a_link_can_be_given_all_it_needs() {
    let (Some(one), Some(two)) = (netns(), netns()) else {
        return;
    };
    one.loopback_up().unwrap();
    let mut nl = one.route().unwrap();
    create_veth(&mut nl, &NewLink::named("a0"), &NewLink::named("a1")).unwrap();
    let index = super::index(&mut nl, "a0").unwrap();
    set_mtu(&mut nl, index, 1300).unwrap();
    set_mac(&mut nl, index, [2, 0, 0, 0, 0, 3]).unwrap();
    set_txqueuelen(&mut nl, index, 50).unwrap();
    set_up(&mut nl, index).unwrap();
    add_address(&mut nl, index, ip("10.1.2.3"), 24).unwrap();
    add_address(&mut nl, index, ip("fd00::1"), 64).unwrap();
    add_neighbour(&mut nl, index, ip("10.1.2.1"), [2, 0, 0, 0, 0, 9]).unwrap();
    let default = Route {
        to: (ip("0.0.0.0"), 0),
        via: Some(ip("10.1.2.1")),
        dev: None,
        metric: None,
    };
    add_route(&mut nl, &default).unwrap();
    add_route(
        &mut nl,
        &Route {
            to: (ip("fd01::"), 64),
            via: None,
            dev: Some(index),
            metric: Some(9),
        },
    )
    .unwrap();
    let shown = show(&mut nl, index).unwrap();
    assert_eq!((shown.mtu, shown.txqueuelen), (1300, Some(50)));
    set_down(&mut nl, index).unwrap();
    move_to(&mut nl, index, two.fd()).unwrap();
    let mut there = two.route().unwrap();
    let moved = super::index(&mut there, "a0").unwrap();
    delete(&mut there, moved).unwrap();
    assert!(super::index(&mut nl, "a1").is_err());
}
