#![allow(clippy::unwrap_used)]
//! Facts taken where they are known: in namespaces that the test itself makes.

use std::net::IpAddr;

use host::facts::collect;
use model::facts::{DeviceKind, HostFacts};
use sys::{
    Netns, link,
    link::{NewLink, Route},
    tc::{self, Handle, Qdisc, Tbf},
};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// A namespace with a link `a0` (10.1.2.3/24, fd00::3/64) up, its far end `a1` in another; `None`
/// with a printed reason where the test may not make one.
fn pair() -> Option<(Netns, Netns)> {
    let (near, far) = match (Netns::create(), Netns::create()) {
        (Ok(near), Ok(far)) => (near, far),
        (Err(e), _) | (_, Err(e)) => {
            assert_eq!(e.kind(), std::io::ErrorKind::PermissionDenied, "{e}");
            println!("skipped: {e}");
            return None;
        }
    };
    near.loopback_up().unwrap();
    let mut nl = near.route().unwrap();
    let ends = (
        NewLink {
            mtu: Some(1400),
            ..NewLink::named("a0")
        },
        NewLink {
            netns: Some(far.fd()),
            ..NewLink::named("a1")
        },
    );
    link::create_veth(&mut nl, &ends.0, &ends.1).unwrap();
    let index = link::index(&mut nl, "a0").unwrap();
    link::set_up(&mut nl, index).unwrap();
    link::add_address(&mut nl, index, ip("10.1.2.3"), 24).unwrap();
    link::add_address(&mut nl, index, ip("fd00::3"), 64).unwrap();
    let route = Route {
        to: (ip("10.9.0.0"), 16),
        via: Some(ip("10.1.2.1")),
        dev: Some(index),
        metric: None,
    };
    link::add_route(&mut nl, &route).unwrap();
    let tbf = Qdisc::Tbf(Tbf {
        rate_bps: 10_000_000,
        burst_bytes: 20_000,
        limit_bytes: 100_000,
        table_mtu_bytes: None,
        peak: None,
    });
    tc::replace(&mut nl, index, Handle::ROOT, Handle::new(1, 0), &tbf).unwrap();
    Some((near, far))
}

#[test]
fn the_way_through_a_veth_with_a_shaper() {
    let Some((near, _far)) = pair() else { return };
    let facts = near.run(|| collect(Some(ip("10.9.8.7")))).unwrap();
    let path = facts.path.as_ref().unwrap();
    let [layer] = &path.layers[..] else {
        panic!("{path:?}");
    };
    let route = layer.route.as_ref().unwrap();
    assert_eq!(route.via, Some(ip("10.1.2.1")));
    assert_eq!(route.source, Some(ip("10.1.2.3")));
    assert_eq!(route.prefix.as_deref(), Some("10.9.0.0/16"));
    assert_eq!(route.device.as_deref(), Some("a0"));
    let [device] = &layer.devices[..] else {
        panic!("{layer:?}");
    };
    assert_eq!((device.name.as_str(), device.mtu), ("a0", 1400));
    assert_eq!(device.kind, DeviceKind::Veth);
    assert_eq!(device.driver.as_deref(), Some("veth"));
    let root = device.root_qdisc().unwrap();
    assert_eq!((root.kind.as_str(), root.handle.as_str()), ("tbf", "1:"));
    assert_eq!(root.options["rate_bps"], "10000000");
    assert!(device.offload("rx-gro").is_some());
    assert!(layer.tunnel.is_none());
    let six = near.run(|| collect(Some(ip("fd00::9")))).unwrap();
    let layer = &six.path.unwrap().layers[0];
    assert_eq!(layer.route.as_ref().unwrap().source, Some(ip("fd00::3")));
}

/// /sys is that of the namespace in which it was mounted, so it must not be used for devices of
/// another one.
#[test]
fn sysfs_of_another_namespace_is_not_believed() {
    let Some((near, _far)) = pair() else { return };
    let facts = near.run(|| collect(Some(ip("10.9.8.7")))).unwrap();
    let device = facts.path.as_ref().unwrap().devices().next().unwrap();
    assert_eq!((&device.rps_cpus, &device.xps_cpus), (&None, &None));
    assert!(
        facts.notes.iter().any(|n| n.to_string().contains("/sys")),
        "{:?}",
        facts.notes
    );
}

#[test]
fn parameters_are_those_of_the_threads_namespace() {
    let Some((near, _far)) = pair() else { return };
    let name = "net.ipv4.tcp_notsent_lowat";
    let facts: HostFacts = near
        .run(|| {
            sys::sysctl::write(name, "8192").unwrap();
            collect(None)
        })
        .unwrap();
    assert_eq!(facts.sysctl(name), Some(8192));
    assert_ne!(collect(None).sysctl(name), Some(8192));
    assert_eq!(facts.path, None);
}

#[test]
fn no_way_is_a_note_and_not_an_error() {
    let Some((near, _far)) = pair() else { return };
    let facts = near.run(|| collect(Some(ip("8.8.8.8")))).unwrap();
    assert!(facts.path.unwrap().layers[0].route.is_none());
    let note = "cannot find the route to 8.8.8.8: network unreachable";
    assert!(
        facts.notes.iter().any(|n| n.to_string().contains(note)),
        "{:?}",
        facts.notes
    );
}

/// Needs no privilege: the host that runs the tests reaches itself.
#[test]
fn the_own_host_is_local() {
    let facts = collect(Some(ip("127.0.0.1")));
    let path = facts.path.unwrap();
    assert!(path.layers[0].route.as_ref().unwrap().local);
    assert_eq!(path.layers[0].devices[0].kind, DeviceKind::Loopback);
}
