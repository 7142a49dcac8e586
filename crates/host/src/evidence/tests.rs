#![allow(clippy::unwrap_used)]

use std::net::UdpSocket;

use model::{
    evidence::CounterKind,
    facts::{DeviceFacts, HostFacts, LayerFacts, PathFacts, TunnelFacts},
};
use sys::{
    Netlink, Netns,
    link::{self, NewLink},
};

use super::*;

/// A namespace with `lo` up, or `None` with a printed reason where the test may not make one.
fn netns() -> Option<Netns> {
    match Netns::create() {
        Ok(ns) => {
            ns.loopback_up().unwrap();
            Some(ns)
        }
        Err(e) => {
            assert_eq!(e.kind(), std::io::ErrorKind::PermissionDenied, "{e}");
            println!("skipped: {e}");
            None
        }
    }
}

/// Facts of a path over one device, into a tunnel with a port.
fn facts(device: &str, index: u32, port: Option<u16>) -> HostFacts {
    let to = std::net::IpAddr::from([10, 1, 2, 3]);
    let layer = LayerFacts {
        toward: to,
        route: None,
        devices: vec![DeviceFacts {
            name: device.to_owned(),
            index,
            ..DeviceFacts::default()
        }],
        tunnel: port.map(|port| TunnelFacts {
            listen_port: Some(port),
            ..TunnelFacts::default()
        }),
    };
    HostFacts {
        path: Some(PathFacts {
            toward: to,
            layers: vec![layer],
        }),
        ..HostFacts::default()
    }
}

/// More datagrams than fit a socket's buffer: the drops are counted at the socket and in nstat; the
/// others wait.
#[test]
fn drops_of_a_udp_socket_are_reported_by_its_port() {
    let Some(ns) = netns() else { return };
    ns.run(|| {
        let full = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = full.local_addr().unwrap();
        let scope = Scope::of(&facts("lo", 1, Some(to.port())));
        let send = |n: u64| (0..n).for_each(|_| drop(other.send_to(&[0; 1000], to)));
        send(2000);
        let before = Snapshot::take(&scope);
        send(300);
        let after = Snapshot::take(&scope);
        let evidence = before.until(&after);
        let port = format!("udp.port{}", to.port());
        assert_eq!(evidence.counter(&format!("{port}.drops")), Some(300));
        assert_eq!(evidence.counter("udp.drops"), Some(300));
        assert_eq!(evidence.counter("nstat.UdpRcvbufErrors"), Some(300));
        assert_eq!(evidence.counter("nstat.TcpRetransSegs"), Some(0));
        assert!(evidence.levels[&format!("{port}.rx_queue_bytes")] > 0);
        assert_eq!(evidence.counter("nic.lo.tx_packets"), Some(300));
        assert_eq!(evidence.counter("nic.lo.rx_dropped"), Some(0));
        // The drops of a closed socket disappear; no counter decreases.
        drop(full);
        let gone = after.until(&Snapshot::take(&scope));
        assert_eq!(gone.counter("udp.drops"), Some(0));
    })
    .unwrap();
}

/// A shaper of 1 Mbit/s with a queue of about 20 packets, and a burst of 200.
#[test]
fn drops_of_a_queue_are_reported_by_device_and_place() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    link::create_veth(&mut nl, &NewLink::named("a0"), &NewLink::named("a1")).unwrap();
    let index = |nl: &mut Netlink, name| link::index(nl, name).unwrap();
    let (a0, a1) = (index(&mut nl, "a0"), index(&mut nl, "a1"));
    link::set_up(&mut nl, a0).unwrap();
    link::set_up(&mut nl, a1).unwrap();
    let (own, other) = ([10, 1, 2, 3].into(), [10, 1, 2, 4].into());
    link::add_address(&mut nl, a0, own, 24).unwrap();
    link::add_neighbour(&mut nl, a0, other, [2, 0, 0, 0, 0, 9]).unwrap();
    let tbf = tc::Qdisc::Tbf(tc::Tbf {
        rate_bps: 1_000_000,
        burst_bytes: 2000,
        limit_bytes: 20_000,
        table_mtu_bytes: None,
        peak: None,
    });
    tc::replace(&mut nl, a0, tc::Handle::ROOT, tc::Handle::new(1, 0), &tbf).unwrap();
    ns.run(|| {
        let scope = Scope::of(&facts("a0", a0, None));
        let before = Snapshot::take(&scope);
        let socket = UdpSocket::bind("10.1.2.3:0").unwrap();
        for _ in 0..200 {
            // ENOBUFS is expected.
            let _ = socket.send_to(&[0; 950], "10.1.2.4:9");
        }
        let evidence = before.until(&Snapshot::take(&scope));
        let drops = evidence.counter("qdisc.a0.root.tbf.drops").unwrap();
        assert!((150..200).contains(&drops), "{evidence:?}");
        assert_eq!(evidence.sum(CounterKind::QueueDrops), drops);
        assert!(evidence.levels["qdisc.a0.root.tbf.backlog_bytes"] > 10_000);
        assert_eq!(evidence.counter("qdisc.none.root.tbf.drops"), None);
    })
    .unwrap();
}

#[test]
fn a_busy_thread_of_this_program_is_reported() {
    let scope = Scope::of(&HostFacts::default());
    let before = Snapshot::take(&scope);
    let tid = own_tid();
    let mut x = 1u64;
    let busy = loop {
        for _ in 0..1_000_000 {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        let evidence = before.until(&Snapshot::take(&scope));
        let threads = evidence.cpu.iter().flat_map(|c| &c.threads);
        if let Some(thread) = threads.clone().find(|t| t.tid == tid) {
            break (thread.clone(), evidence.cpu.clone().unwrap());
        }
    };
    assert_eq!(busy.0.role, model::evidence::ThreadRole::Own);
    assert!(busy.0.user_s + busy.0.system_s > 0.0);
    assert!(busy.0.wait_s.is_none_or(|s| s >= 0.0));
    let idle = busy.1.cores.iter().map(|c| c.idle);
    assert!(
        idle.reduce(f64::min)
            .is_some_and(|idle| (0.0..1.0).contains(&idle))
    );
}

/// The number of the calling thread.
fn own_tid() -> u32 {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

#[test]
fn nothing_of_an_unknown_device_is_claimed() {
    let scope = Scope::of(&facts("gone", 4_000_000, None));
    let evidence = Snapshot::take(&scope).until(&Snapshot::take(&scope));
    assert_eq!(evidence.counter("nic.gone.rx_dropped"), None);
    assert!(evidence.groups.contains(&"nstat".to_owned()));
    assert!(evidence.groups.contains(&"softnet".to_owned()));
}
