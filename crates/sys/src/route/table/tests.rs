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
