#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::net::{Ipv6Addr, SocketAddrV6};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::link;
use crate::tc::{self, Handle, Netem, Qdisc};
use crate::testutil::netns;

/// A control message.
fn control(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
    let len = size_of::<usize>() + 8 + data.len();
    let mut bytes = len.to_ne_bytes().to_vec();
    bytes.extend(level.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(data);
    bytes.resize(len.next_multiple_of(size_of::<usize>()), 0);
    bytes
}

fn times(seconds: u64, nanoseconds: u64) -> Vec<u8> {
    let mut bytes = seconds.to_ne_bytes().to_vec();
    bytes.extend(nanoseconds.to_ne_bytes());
    bytes.resize(48, 0);
    bytes
}

fn error(origin: u8, info: u32, key: u32) -> Vec<u8> {
    let mut bytes = 42u32.to_ne_bytes().to_vec();
    bytes.extend([origin, 0, 0, 0]);
    bytes.extend(info.to_ne_bytes());
    bytes.extend(key.to_ne_bytes());
    bytes
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
        let _ = (control::received(&bytes), control::transmitted(&bytes), address(&bytes));
    }

    #[test]
    fn control_messages_of_any_content_are_parsed_without_panic(
        messages in proptest::collection::vec(
            (prop_oneof![Just(1), Just(0), Just(41)],
             prop_oneof![Just(35), Just(37), Just(65), Just(11), Just(25)],
             proptest::collection::vec(any::<u8>(), 0..64)), 0..4),
    ) {
        let bytes: Vec<u8> = messages.iter().flat_map(|(l, k, d)| control(*l, *k, d)).collect();
        let _ = (control::received(&bytes), control::transmitted(&bytes));
    }

    #[test]
    fn the_kernels_output_is_parsed_back(
        seconds in 1u64..1 << 33, nanoseconds in 0u64..1_000_000_000, key: u32,
        new: bool, six: bool, sent: bool,
    ) {
        let mut bytes = control(1, if new { 65 } else { 37 }, &times(seconds, nanoseconds));
        let (level, kind) = if six { (41, 25) } else { (0, 11) };
        bytes.extend(control(level, kind, &error(4, u32::from(!sent), key)));
        let stamp = control::transmitted(&bytes).unwrap();
        prop_assert_eq!(stamp.at_ns, seconds * 1_000_000_000 + nanoseconds);
        prop_assert_eq!(stamp.key, key);
        prop_assert_eq!(stamp.stage, if sent { Stage::Sent } else { Stage::Queued });
        // An ICMP error is not a timestamp, even if it contains a time.
        let mut icmp = control(1, 65, &times(seconds, nanoseconds));
        icmp.extend(control(level, kind, &error(2, 0, key)));
        prop_assert_eq!(control::transmitted(&icmp), None);
    }
}

#[test]
fn the_time_of_arrival_goes_before_one_that_may_be_made_up() {
    let mut bytes = control(1, 35, &times(7, 0)[..16]);
    assert_eq!(control::received(&bytes), Some(7_000_000_000));
    bytes.extend(control(1, 65, &times(5, 1)));
    assert_eq!(control::received(&bytes), Some(5_000_000_001));
    assert_eq!(control::received(&control(1, 65, &times(0, 0))), None);
}

/// A socket that sends to another, both stamped.
fn pair(address: &str) -> (Stamped, Stamped) {
    let sockets = [0, 1].map(|_| {
        let socket = UdpSocket::bind(address).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        socket
    });
    sockets[0]
        .connect(sockets[1].local_addr().unwrap())
        .unwrap();
    let [a, b] = sockets.map(Stamped::new);
    let both = Support {
        receive: true,
        transmit: true,
    };
    assert_eq!((a.support(), b.support()), (both, both));
    (a, b)
}

/// Sends one datagram and receives it; its number and when it arrived.
fn pass(a: &mut Stamped, b: &Stamped, bytes: &[u8]) -> (u64, Option<u64>) {
    let id = a.send(bytes).unwrap();
    let mut buf = [0; 2000];
    let received = receive(b.socket(), &mut buf).unwrap();
    assert_eq!(&buf[..received.len], bytes);
    assert_eq!(received.from, a.socket().local_addr().ok());
    (id, received.at_ns)
}

/// Waits until the kernel has enabled timestamps, which happens asynchronously.
fn warm(a: &mut Stamped, b: &Stamped) -> u64 {
    let mut passed = 0;
    loop {
        passed += 1;
        if pass(a, b, b"first").1.is_some() {
            a.transmitted(&mut Vec::new()).unwrap();
            return passed;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_datagram_is_queued_then_sent_then_received() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (mut a, b) = pair(address);
        let first = warm(&mut a, &b);
        let before = clock::realtime_ns();
        let mut arrived = HashMap::new();
        for number in 0..100u64 {
            let (id, at_ns) = pass(&mut a, &b, &number.to_le_bytes());
            assert_eq!(id, first + number);
            arrived.insert(id, at_ns.unwrap());
        }
        let mut stamps = Vec::new();
        assert_eq!(a.transmitted(&mut stamps).unwrap(), 200);
        for (id, at_ns) in arrived {
            let at = |stage| {
                let mut own = stamps.iter().filter(|s| s.id == id && s.stage == stage);
                let stamp = own.next().unwrap().at_ns;
                assert_eq!(own.next(), None);
                stamp
            };
            let (queued, sent) = (at(Stage::Queued), at(Stage::Sent));
            assert!(
                before <= queued && queued <= sent && sent <= at_ns,
                "{id}: {queued} {sent} {at_ns}"
            );
        }
        // All were fetched.
        assert_eq!(a.transmitted(&mut stamps).unwrap(), 0);
    }
}

#[test]
fn numbers_still_match_after_a_send_that_failed() {
    let (mut a, b) = pair("127.0.0.1:0");
    warm(&mut a, &b);
    for round in 0..5 {
        let mut stamps = Vec::new();
        let (before, _) = pass(&mut a, &b, b"before");
        // Larger than UDP supports: fails during sending.
        assert!(a.send(&vec![0; 65_536]).is_err());
        // Fails because of a missing route or buffer space, depending on the host.
        let _ = a.send_to(b"x", "240.0.0.1:9".parse().unwrap());
        let (after, _) = pass(&mut a, &b, b"after");
        a.transmitted(&mut stamps).unwrap();
        for id in [before, after] {
            let stages = stamps.iter().filter(|s| s.id == id).count();
            assert_eq!(stages, 2, "round {round}: {id} in {stamps:?}");
        }
    }
}

#[test]
fn a_datagram_to_a_closed_port_is_stamped_and_its_error_is_not_a_stamp() {
    let (mut a, b) = pair("127.0.0.1:0");
    warm(&mut a, &b);
    let free = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    set_option(a.socket(), libc::SOL_IP, libc::IP_RECVERR, 1).unwrap();
    a.socket().connect(free).unwrap();
    let id = a.send(b"into the void").unwrap();
    let mut stamps = Vec::new();
    a.transmitted(&mut stamps).unwrap();
    assert!(
        stamps.iter().all(|s| s.id == id) && stamps.len() == 2,
        "{stamps:?}"
    );
}

#[test]
fn a_queue_lies_between_queued_and_sent() {
    let Some(ns) = netns() else { return };
    ns.loopback_up().unwrap();
    let mut nl = ns.route().unwrap();
    let lo = link::index(&mut nl, "lo").unwrap();
    let netem = Qdisc::Netem(Netem {
        delay_ns: 20_000_000,
        ..Netem::default()
    });
    if let Err(e) = tc::add(&mut nl, lo, Handle::ROOT, Handle::new(1, 0), &netem) {
        println!("skipped: {e}");
        return;
    }
    let (mut a, b) = ns.run(|| pair("127.0.0.1:0")).unwrap();
    let id = warm(&mut a, &b);
    pass(&mut a, &b, b"late");
    let mut stamps = Vec::new();
    a.transmitted(&mut stamps).unwrap();
    let at = |stage| {
        let mut own = stamps.iter().filter(|s| s.id == id && s.stage == stage);
        own.next().unwrap().at_ns
    };
    let waited = at(Stage::Sent) - at(Stage::Queued);
    assert!(waited >= 20_000_000, "{waited}");
}

#[test]
fn addresses_of_both_families_are_read() {
    let mut four = 2u16.to_ne_bytes().to_vec();
    four.extend([0x1f, 0x90, 192, 0, 2, 1]);
    assert_eq!(address(&four), Some("192.0.2.1:8080".parse().unwrap()));
    let mut six = 10u16.to_ne_bytes().to_vec();
    six.extend([0x1f, 0x90, 0, 0, 0, 0]);
    six.extend(Ipv6Addr::LOCALHOST.octets());
    let expected = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 8080, 0, 0);
    assert_eq!(address(&six), Some(expected.into()));
    assert_eq!(address(&[0; 28]), None);
}
