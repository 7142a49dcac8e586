#![allow(clippy::unwrap_used)]

use std::net::TcpListener;

use super::*;
use crate::admission::{Admission, GRACE, Spent, Totals};
use crate::wire::message::Limits;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (near, listener.accept().unwrap().0)
}

fn config(role: Role, lease: Lease) -> Config {
    Config {
        role,
        zero: Instant::now(),
        sample_interval: Duration::from_millis(10),
        lease,
    }
}

fn own(seconds: u64) -> Lease {
    Lease::own(Duration::from_secs(seconds), None, None)
}

/// Reads until the end; returns the bytes read.
fn drain(mut stream: TcpStream) -> JoinHandle<u64> {
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        let mut sum = 0;
        while let Ok(n @ 1..) = io::Read::read(&mut stream, &mut buffer) {
            sum += n as u64;
        }
        sum
    })
}

/// Sends until the peer stops reading; returns the bytes sent.
fn flood(mut stream: TcpStream) -> JoinHandle<u64> {
    std::thread::spawn(move || {
        let block = vec![0; 1 << 16];
        let mut sum = 0;
        while let Ok(n @ 1..) = io::Write::write(&mut stream, &block) {
            sum += n as u64;
        }
        sum
    })
}

/// Bug: a load continued, with its threads and descriptors, after its handle was dropped.
#[test]
fn a_load_that_is_dropped_ends() {
    for role in [Role::Sender, Role::Receiver] {
        let (near, far) = pair();
        let load = TcpLoad::start(vec![near], config(role, own(3600))).unwrap();
        let shared = Arc::downgrade(&load.shared);
        drop(load);
        assert!(shared.upgrade().is_none(), "a thread still has it");
        // The peer is notified.
        drain(far).join().unwrap();
    }
}

/// Twelve seconds were taken in where five were agreed on.
#[test]
fn a_receiver_ends_soon_after_its_time_regardless_of_the_sender() {
    let (near, far) = pair();
    let lease = Lease::own(Duration::from_millis(200), None, None);
    let start = Instant::now();
    let load = TcpLoad::start(vec![near], config(Role::Receiver, lease)).unwrap();
    flood(far).join().unwrap();
    let took = Instant::now().since(start);
    let most = Duration::from_millis(200) + GRACE + Duration::from_millis(500);
    assert!(took < most.as_nanos() as i64, "{took} ns");
    drop(load);
}

#[test]
fn a_sender_whose_peer_does_not_read_ends_soon_after_its_time() {
    let (near, _far) = pair();
    let lease = Lease::own(Duration::from_millis(200), None, None);
    let load = TcpLoad::start(vec![near], config(Role::Sender, lease)).unwrap();
    let start = Instant::now();
    while !load.threads.iter().all(JoinHandle::is_finished) {
        assert!(Instant::now().since(start) < 5_000_000_000);
        Instant::now().after(Duration::from_millis(5)).wait();
    }
}

/// Bug: each connection had the whole rate.
#[test]
fn the_rate_holds_for_all_loads_of_a_session_together() {
    let limits = Limits {
        rate_bps: Some(40_000_000),
        flows: 8,
        ..Limits::default()
    };
    let admission = Admission::new(limits, Totals::default());
    let session = admission.admit("192.0.2.1".parse().unwrap()).unwrap();
    let span = Duration::from_secs(1);
    let start = Instant::now();
    let mut loads = Vec::new();
    let mut readers = Vec::new();
    for _ in 0..3 {
        let (pairs, streams): (Vec<_>, Vec<_>) = (0..2).map(|_| pair()).unzip();
        readers.extend(pairs.into_iter().map(drain));
        let lease = session.lease(&need(Role::Sender, 2, span)).unwrap();
        loads.push(TcpLoad::start(streams, config(Role::Sender, lease)).unwrap());
    }
    Instant::now().after(span).wait();
    let sent: u64 = loads.iter().map(TcpLoad::bytes).sum();
    let took_s = Instant::now().since(start) as f64 / 1e9;
    drop(loads);
    // 5,000,000 bytes a second, and a call of each connection and a burst more.
    let most = (5e6 * took_s) as u64 + 6 * 25_000 + 400_000;
    assert!((4_000_000..=most).contains(&sent), "{sent} in {took_s} s");
    let came: u64 = readers.into_iter().map(|r| r.join().unwrap()).sum();
    assert!(came <= sent);
    assert_eq!(admission.held().connections, 0);
}

#[test]
fn a_sender_is_slowed_down_by_a_receiver_that_keeps_a_rate() {
    let (near, far) = pair();
    let lease = Lease::own(Duration::from_secs(1), None, Some(40_000_000));
    let load = TcpLoad::start(vec![near], config(Role::Receiver, lease)).unwrap();
    let sender = flood(far);
    Instant::now().after(Duration::from_secs(1)).wait();
    let read = load.bytes();
    drop(load);
    assert!((4_000_000..5_700_000).contains(&read), "{read}");
    // Beyond the bytes read, only the capacity of the kernels' buffers.
    assert!(sender.join().unwrap() < read + (16 << 20));
}

#[test]
fn a_receiver_ends_when_it_has_taken_in_the_bytes_it_may() {
    let (near, far) = pair();
    let lease = Lease::own(Duration::from_secs(60), Some(1_000_000), None);
    let load = TcpLoad::start(vec![near], config(Role::Receiver, lease)).unwrap();
    flood(far).join().unwrap();
    let outcome = load.finish();
    assert_eq!(outcome.errors.0, [Spent.text()]);
}

#[test]
fn a_sender_sends_no_more_than_the_bytes_it_may() {
    let pairs: Vec<_> = (0..4).map(|_| pair()).collect();
    let (streams, far): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let lease = Lease::own(Duration::from_secs(60), Some(10_000_000), None);
    let load = TcpLoad::start(streams, config(Role::Sender, lease)).unwrap();
    let readers: Vec<_> = far.into_iter().map(drain).collect();
    while !load.threads.iter().all(JoinHandle::is_finished) {
        Instant::now().after(Duration::from_millis(5)).wait();
    }
    assert_eq!(load.bytes(), 10_000_000);
    drop(load);
    let came: u64 = readers.into_iter().map(|r| r.join().unwrap()).sum();
    assert!(came <= 10_000_000, "{came}");
}

/// Both halves in one process, as in a cell of the lab.
#[test]
fn an_owner_opens_samples_and_stops_both_halves() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let zeroes = zeroes().unwrap();
    let start = Instant::now().after(Duration::from_millis(50));
    let accept: Opener<TcpStream> = Box::new(move || Ok(listener.accept()?.0));
    let connect: Opener<TcpStream> = Box::new(move || TcpStream::connect(address));
    let mut receiver = TcpLoad::driven(accept, None, start).unwrap();
    let mut sender = TcpLoad::driven(connect, Some(&zeroes), start).unwrap();
    sender.sample(-1);
    assert!(sender.congestion().is_empty(), "connected before its time");
    let enough = |load: &TcpLoad| load.bytes() > 10 << 20;
    while !enough(&sender) {
        Instant::now().after(Duration::from_millis(1)).wait();
    }
    for at_ns in [0, 5] {
        sender.sample(at_ns);
        receiver.sample(at_ns);
    }
    assert_eq!(sender.congestion().len(), 1);
    for half in [sender, receiver] {
        half.stop();
        assert!(half.is_stopped());
        assert_eq!(half.errors(), []);
        let samples = half.finish_samples();
        let at: Vec<i64> = samples[0].raw().map(|(at, _)| at).collect();
        assert_eq!(at, [0, 5]);
        assert!(samples[0].raw().all(|(_, bytes)| bytes.len() >= 104));
    }
}

#[test]
fn a_half_that_cannot_open_its_connection_reports_why() {
    let refused: Opener<TcpStream> = Box::new(|| Err(io::Error::other("no such host")));
    let load = TcpLoad::driven(refused, None, Instant::now()).unwrap();
    while load.errors().is_empty() {
        Instant::now().after(Duration::from_millis(1)).wait();
    }
    assert_eq!(load.errors(), [Text::name("no such host")]);
}
