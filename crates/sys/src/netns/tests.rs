#![allow(clippy::unwrap_used)]

use std::net::UdpSocket;
use std::os::unix::fs::MetadataExt;

use super::*;
use crate::testutil::netns;

fn inode() -> u64 {
    std::fs::metadata(OWN_NETNS).unwrap().ino()
}

#[test]
fn the_thread_stays_where_it_was() {
    let before = inode();
    let Some(ns) = netns() else { return };
    assert_eq!(inode(), before);
    let inside = ns.run(inode).unwrap();
    assert_ne!(inside, before);
    assert_eq!(inode(), before);
}

#[test]
fn a_panic_does_not_leave_the_thread_inside() {
    let before = inode();
    let Some(ns) = netns() else { return };
    let result =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ns.run(|| panic!("test"))));
    assert!(result.is_err());
    assert_eq!(inode(), before);
}

/// The namespace that the thread is in is remembered between calls, and a call within another one
/// remembers the outer one.
#[test]
fn calls_within_calls_return_one_by_one_also_after_a_panic() {
    let before = inode();
    let (Some(outer), Some(inner)) = (netns(), netns()) else {
        return;
    };
    let nested = || {
        outer
            .run(|| (inode(), inner.run(inode).unwrap(), inode()))
            .unwrap()
    };
    let (first, within, after) = nested();
    assert_eq!(first, after);
    assert_ne!(first, within);
    assert_eq!(inode(), before);
    let failing = || {
        outer.run(|| {
            inner.run(inode).unwrap();
            panic!("test")
        })
    };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(failing));
    assert!(result.is_err());
    assert_eq!(inode(), before);
    assert_eq!(nested(), (first, within, after));
    assert_eq!(inode(), before);
    inner.run(|| ()).unwrap();
    assert_eq!(inode(), before);
}

#[test]
fn loopback_carries_packets_once_it_is_up() {
    let Some(ns) = netns() else { return };
    ns.loopback_up().unwrap();
    let (a, b) = ns
        .run(|| {
            (
                UdpSocket::bind("127.0.0.1:0").unwrap(),
                UdpSocket::bind("127.0.0.1:0").unwrap(),
            )
        })
        .unwrap();
    a.send_to(b"x", b.local_addr().unwrap()).unwrap();
    let mut buf = [0; 4];
    assert_eq!(b.recv(&mut buf).unwrap(), 1);
}
