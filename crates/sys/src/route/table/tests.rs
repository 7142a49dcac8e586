#![allow(clippy::unwrap_used)]

use super::*;
use crate::{
    link::{self, NewLink},
    testutil::netns,
};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// A namespace with a link, an address and a route to 10.9.0.0/16 with metrics.
fn scene(nl: &mut Netlink) -> Entry {
    link::create_veth(nl, &NewLink::named("a0"), &NewLink::named("a1")).unwrap();
    for name in ["a0", "a1"] {
        let index = link::index(nl, name).unwrap();
        link::set_up(nl, index).unwrap();
    }
    let a0 = link::index(nl, "a0").unwrap();
    link::add_address(nl, a0, ip("10.1.2.3"), 24).unwrap();
    let route = link::Route {
        to: (ip("10.9.0.0"), 16),
        via: Some(ip("10.1.2.1")),
        dev: Some(a0),
        metric: Some(70),
    };
    link::add_route(nl, &route).unwrap();
    let plain = entry_for(nl, ip("10.9.7.7")).unwrap();
    let mut m = Message::new(RTM_NEWROUTE, NLM_F_REPLACE);
    m.raw(plain.bytes()).nest(RTA_METRICS, |m| {
        // mtu 1400 locked, advmss 1300, initcwnd 20 (RTAX_LOCK, _MTU, _ADVMSS, _INITCWND).
        m.u32(1, 1 << 2).u32(2, 1400).u32(8, 1300).u32(11, 20);
    });
    nl.request(&mut m, "set metrics").unwrap();
    entry_for(nl, ip("10.9.7.7")).unwrap()
}

#[test]
fn a_congestion_control_keeps_all_other_metrics_of_the_route() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    let before = scene(&mut nl);
    assert_eq!(before.metrics().advmss, Some(1300));
    replace(&mut nl, &before.with_congestion_control("reno")).unwrap();
    let during = entry_for(&mut nl, ip("10.9.7.7")).unwrap();
    let expected = Metrics {
        congctl: Some("reno".to_owned()),
        ..before.metrics()
    };
    assert_eq!(during.metrics(), expected);
    assert!(during.metrics().mtu_locked);
    replace(&mut nl, &before).unwrap();
    assert_eq!(entry_for(&mut nl, ip("10.9.7.7")).unwrap(), before);
}

#[test]
fn the_congestion_control_of_another_entry_is_all_that_is_taken_of_it() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    let before = scene(&mut nl);
    let set = |nl: &mut Netlink, lock: u32, mtu: u32| {
        let mut m = Message::new(RTM_NEWROUTE, NLM_F_REPLACE);
        m.raw(before.bytes()).nest(RTA_METRICS, |m| {
            m.u32(RTAX_LOCK, lock).u32(2, mtu).str(RTAX_CC_ALGO, "reno");
        });
        nl.request(&mut m, "set metrics").unwrap();
        entry_for(nl, ip("10.9.7.7")).unwrap()
    };
    let locked = set(&mut nl, 1 << RTAX_CC_ALGO, 1300);
    let other = set(&mut nl, 1 << 2, 1200);
    for (of, expected) in [(&before, None), (&locked, Some("reno"))] {
        replace(&mut nl, &other.with_congestion_control_of(of)).unwrap();
        let now = entry_for(&mut nl, ip("10.9.7.7")).unwrap();
        assert_eq!(now.metrics().congctl.as_deref(), expected);
        assert_eq!(now.metrics().mtu, Some(1200));
        let lock = expected.map_or(0, |_| CC_LOCK);
        assert_eq!(now.locks(), 1 << 2 | lock);
    }
    let plain = entry_for(&mut nl, ip("10.1.2.9")).unwrap();
    replace(&mut nl, &plain.with_congestion_control("reno")).unwrap();
    let set = entry_for(&mut nl, ip("10.1.2.9")).unwrap();
    replace(&mut nl, &set.with_congestion_control_of(&plain)).unwrap();
    assert_eq!(entry_for(&mut nl, ip("10.1.2.9")).unwrap(), plain);
}

#[test]
fn a_more_specific_route_has_the_next_hop_and_metrics_of_the_one_it_comes_from() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    let before = scene(&mut nl);
    let narrow = before
        .toward((ip("10.9.1.1"), 32))
        .with_congestion_control("reno");
    add(&mut nl, &narrow).unwrap();
    let found = entry_for(&mut nl, ip("10.9.1.1")).unwrap();
    assert_eq!(found.prefix(), Some((ip("10.9.1.1"), 32)));
    assert_eq!(
        (found.via(), found.metrics().mtu),
        (before.via(), Some(1400))
    );
    delete(&mut nl, &narrow).unwrap();
    assert_eq!(entry_for(&mut nl, ip("10.9.1.1")).unwrap(), before);
}

/// The kernel reports flags of next hops that it refuses in requests.
#[test]
fn an_entry_over_two_links_of_which_one_is_down_can_be_replaced() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    scene(&mut nl);
    link::create_veth(&mut nl, &NewLink::named("b0"), &NewLink::named("b1")).unwrap();
    for name in ["b0", "b1"] {
        let index = link::index(&mut nl, name).unwrap();
        link::set_up(&mut nl, index).unwrap();
    }
    let [a0, b0, b1] = ["a0", "b0", "b1"].map(|name| link::index(&mut nl, name).unwrap());
    link::add_address(&mut nl, b0, ip("10.2.2.3"), 24).unwrap();
    let mut m = Message::new(RTM_NEWROUTE, NLM_F_CREATE);
    m.raw(&[libc::AF_INET as u8, 16, 0, 0, 254, RTPROT_STATIC, 0, 1]);
    m.raw(&[0; 4])
        .ip(RTA_DST, ip("10.8.0.0"))
        .nest(RTA_MULTIPATH, |m| {
            for (link, via) in [(a0, "10.1.2.1"), (b0, "10.2.2.1")] {
                // `struct rtnexthop` of 8 bytes and a gateway of 8.
                m.raw(&[16, 0, 0, 0]).raw(&link.to_ne_bytes());
                m.ip(RTA_GATEWAY, ip(via));
            }
        });
    nl.request(&mut m, "add a route over two links").unwrap();
    let both = entry_for(&mut nl, ip("10.8.7.7")).unwrap();
    link::set_down(&mut nl, b1).unwrap();
    let one = entry_for(&mut nl, ip("10.8.7.7")).unwrap();
    assert_eq!(one, both);
    replace(&mut nl, &one.with_congestion_control("reno")).unwrap();
}

#[test]
fn an_entry_is_the_same_after_storing_its_bytes() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    let before = scene(&mut nl);
    assert_eq!(Entry::from_bytes(before.bytes()), Some(before.clone()));
    assert!(entries(&mut nl).unwrap().contains(&before));
    assert_eq!((before.priority(), before.protocol()), (70, 4));
    for cut in 0..before.bytes().len() {
        let _ = Entry::from_bytes(&before.bytes()[..cut]);
    }
}
