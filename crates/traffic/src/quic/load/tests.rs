use std::net::{Ipv4Addr, SocketAddr};

use model::run::Column;
use sys::clock::Instant;

use super::*;
use crate::{
    admission::{Lease, Spent},
    quic::{Identity, LIBRARY},
};

fn sockets() -> [UdpSocket; 2] {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let sockets = [0, 1].map(|_| sys::socket::udp(any).unwrap());
    let addresses = [0, 1].map(|i: usize| sockets[i].local_addr().unwrap());
    sockets[0].connect(addresses[1]).unwrap();
    sockets[1].connect(addresses[0]).unwrap();
    sockets
}

fn config(sends: bool, ms: u64) -> Config {
    Config {
        sends,
        zero: Instant::now(),
        sample_interval: Duration::from_millis(10),
        lease: lease(ms, None, None),
    }
}

fn lease(ms: u64, bytes: Option<u64>, rate_bps: Option<u64>) -> Lease {
    Lease::own(Duration::from_millis(ms), bytes, rate_bps)
}

fn pair(near_sends: bool, change: impl Fn(&mut Config)) -> (QuicOutcome, QuicOutcome) {
    let [near, far] = sockets();
    let identity = Identity::generate().unwrap();
    let key = identity.public_key();
    let mut all = [config(near_sends, 400), config(!near_sends, 400)];
    all.iter_mut().for_each(change);
    let far = QuicLoad::start(far, Handshake::Accept(identity), all[1].clone()).unwrap();
    let near = QuicLoad::start(near, Handshake::Connect(key), all[0].clone()).unwrap();
    Instant::now().after(Duration::from_millis(450)).wait();
    (near.finish(), far.finish())
}

#[test]
fn the_library_is_the_one_that_is_named() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"));
    let lock = lock.unwrap();
    let (_, rest) = lock
        .split_once("name = \"quinn-proto\"\nversion = \"")
        .unwrap();
    let (version, _) = rest.split_once('"').unwrap();
    assert_eq!(LIBRARY, format!("quinn-proto {version} cubic"));
}

#[test]
fn data_flows_in_either_direction() {
    for near_sends in [true, false] {
        let (near, far) = pair(near_sends, |_| {});
        assert_eq!((&near.errors.0[..], &far.errors.0[..]), (&[][..], &[][..]));
        let (sent, received) = if near_sends { (near, far) } else { (far, near) };
        let came = received.series.last(Column::BytesReceived).unwrap();
        let gone = sent.series.last(Column::BytesSent).unwrap();
        // Ten times the first window of ten datagrams (RFC 9002, 7.2), however busy the host is.
        assert!(came > 147_200 && came < gone, "{came} of {gone}");
        assert!(sent.series.last(Column::RttUs).unwrap() > 0);
        // Of 1200 bytes at first, and then as many as the search found loopback to carry.
        assert_eq!(sent.series.last(Column::MtuBytes), Some(1452));
        assert_eq!(received.series.last(Column::RttUs), None);
        assert_eq!(sent.cc_used, LIBRARY);
    }
}

#[test]
fn another_key_than_the_pinned_one_is_refused() {
    let [near, far] = sockets();
    let (identity, other) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let far = QuicLoad::start(far, Handshake::Accept(identity), config(true, 60_000)).unwrap();
    let near_side = Handshake::Connect(other.public_key());
    let near = QuicLoad::start(near, near_side, config(false, 60_000)).unwrap();
    // Both end by themselves, long before their time.
    while !near.is_finished() || !far.is_finished() {
        Instant::now().after(Duration::from_millis(1)).wait();
    }
    let (near, far) = (near.finish(), far.finish());
    let words = |outcome: &QuicOutcome| outcome.errors.0[0].to_string();
    assert!(words(&near).contains("certificate"), "{:?}", near.errors);
    let aborted = words(&far).starts_with("QUIC: aborted by the other end: ");
    assert!(aborted, "{:?}", far.errors);
    assert_eq!(near.series.last(Column::BytesReceived).unwrap_or(0), 0);
}

#[test]
fn a_rate_is_kept() {
    let (near, far) = pair(true, |config| {
        config.lease = lease(400, None, Some(8_000_000))
    });
    assert_eq!((&near.errors.0[..], &far.errors.0[..]), (&[][..], &[][..]));
    // 8 Mbit/s for 450 ms, at most one batch more, and the burst after a pause.
    let sent = near.series.last(Column::BytesSent).unwrap();
    assert!(sent <= 450_000 + 80_000 + 30_000, "{sent}");
    assert!(far.series.last(Column::BytesReceived).unwrap() < sent);
}

#[test]
fn a_bound_of_bytes_ends_the_load() {
    let (near, far) = pair(true, |config| {
        config.lease = lease(400, Some(100_000), None)
    });
    let ended = |outcome: &QuicOutcome| outcome.errors.0.contains(&Spent.text());
    assert!(ended(&near) || ended(&far), "{near:?} {far:?}");
    assert!(far.series.last(Column::BytesReceived).unwrap_or(0) < 100_000 + 2 * 16 * 1472);
}

#[test]
fn datagrams_of_no_meaning_change_nothing() {
    let [near, far] = sockets();
    let far = QuicLoad::start(
        far,
        Handshake::Accept(Identity::generate().unwrap()),
        config(true, 60_000),
    )
    .unwrap();
    let mut byte = 1u8;
    for length in (0..1500).step_by(7) {
        let bytes: Vec<u8> = (0..length)
            .map(|_| {
                byte = byte.wrapping_mul(167).wrapping_add(13);
                byte
            })
            .collect();
        near.send(&bytes).unwrap();
        // Long headers of version 1, and of an unknown one.
        for head in [[0xc0, 0, 0, 0, 1], [0xc0, 9, 9, 9, 9]] {
            let mut bytes = bytes.clone();
            for (to, from) in bytes.iter_mut().zip(head) {
                *to = from;
            }
            near.send(&bytes).unwrap();
        }
    }
    assert!(!far.is_finished());
    assert_eq!(far.finish().errors.0, []);
}
