#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::link::{self, NewLink};
use crate::testutil::netns;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }
}

#[test]
fn the_own_address_is_local() {
    let mut nl = Netlink::route().unwrap();
    let route = lookup(&mut nl, Query::to(ip("127.0.0.1"))).unwrap();
    assert!(route.local);
    assert_eq!((route.via, route.source), (None, Some(ip("127.0.0.1"))));
}

#[test]
fn routes_of_both_families_with_their_prefix() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    link::create_veth(&mut nl, &NewLink::named("a0"), &NewLink::named("a1")).unwrap();
    let (a0, a1) = (
        link::index(&mut nl, "a0").unwrap(),
        link::index(&mut nl, "a1").unwrap(),
    );
    link::set_up(&mut nl, a0).unwrap();
    link::set_up(&mut nl, a1).unwrap();
    link::add_address(&mut nl, a0, ip("10.1.2.3"), 24).unwrap();
    link::add_address(&mut nl, a0, ip("fd00::3"), 64).unwrap();
    for (to, via) in [
        ((ip("10.9.0.0"), 16), "10.1.2.1"),
        ((ip("0.0.0.0"), 0), "10.1.2.9"),
        ((ip("fd09::"), 32), "fd00::1"),
    ] {
        let via = Some(ip(via));
        let route = link::Route {
            to,
            via,
            dev: Some(a0),
            metric: None,
        };
        link::add_route(&mut nl, &route).unwrap();
    }
    let mut resolve = |to: &str| lookup(&mut nl, Query::to(ip(to))).unwrap();
    let inside = resolve("10.9.7.7");
    assert_eq!(
        (inside.via, inside.prefix, inside.source),
        (
            Some(ip("10.1.2.1")),
            Some((ip("10.9.0.0"), 16)),
            Some(ip("10.1.2.3"))
        )
    );
    assert_eq!(
        (inside.link, inside.table, inside.local),
        (Some(a0), Some(254), false)
    );
    let default = resolve("8.8.8.8");
    assert_eq!(
        (default.via, default.prefix),
        (Some(ip("10.1.2.9")), Some((ip("0.0.0.0"), 0)))
    );
    let near = resolve("10.1.2.77");
    assert_eq!((near.via, near.link), (None, Some(a0)));
    let six = resolve("fd09::5");
    assert_eq!(
        (six.via, six.prefix, six.source),
        (
            Some(ip("fd00::1")),
            Some((ip("fd09::"), 32)),
            Some(ip("fd00::3"))
        )
    );
}

/// The bytes of a reply with the metrics that `ip route add ... congctl bbr mtu lock 1400 advmss
/// 1300 initcwnd 20` sets.
#[test]
fn metrics_are_read() {
    let mut m = Message::new(24, 0);
    m.raw(&[2, 24, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0])
        .ip(RTA_DST, ip("10.5.0.0"))
        .nest(RTA_METRICS, |m| {
            m.u32(RTAX_LOCK, 1 << RTAX_MTU)
                .u32(RTAX_MTU, 1400)
                .u32(RTAX_ADVMSS, 1300)
                .u32(RTAX_INITCWND, 20)
                .u32(RTAX_FEATURES, 1)
                .str(RTAX_CC_ALGO, "bbr");
        });
    let route = parse(m.payload()).unwrap();
    assert_eq!(
        route.metrics,
        Metrics {
            mtu: Some(1400),
            mtu_locked: true,
            advmss: Some(1300),
            initcwnd: Some(20),
            initrwnd: None,
            congctl: Some("bbr".to_owned()),
            ecn: true,
        }
    );
}
