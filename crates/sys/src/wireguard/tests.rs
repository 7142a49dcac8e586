#![allow(clippy::unwrap_used)]
//! Tests without kernel WireGuard: messages are read back by the decoder, and lengths are those of
//! the kernel's policy (drivers/net/wireguard/generated/netlink.c, Linux 7.2).

use super::attribute::{WGDEVICE_A_FLAGS, WGDEVICE_A_PEERS, WGPEER_A_ENDPOINT};
use super::*;
use crate::netlink::GENLMSG_LEN;
use crate::netlink::{Attrs, Message};
use crate::testutil::netns;

fn peer(n: u8) -> Peer {
    let endpoint = if n.is_multiple_of(2) {
        "192.0.2.7:51820"
    } else {
        "[fd00::7]:51820"
    };
    Peer {
        public_key: [n; 32],
        preshared_key: None,
        endpoint: Some(endpoint.parse().unwrap()),
        allowed_ips: vec![
            ("10.9.0.0".parse().unwrap(), 24),
            ("fd09::".parse().unwrap(), 64),
        ],
        keepalive_s: Some(25),
    }
}

#[test]
fn set_values_are_read_back() {
    let device = Device {
        private_key: Some([1; 32]),
        listen_port: Some(51_820),
        fwmark: None,
        peers: vec![peer(2), peer(3)],
    };
    let messages = encode::set_messages(30, 5, &device);
    assert_eq!(messages.len(), 1);
    let state = decode::device(messages[0].payload());
    assert_eq!(state.listen_port, 51_820);
    for (read, set) in state.peers.iter().zip(&device.peers) {
        assert_eq!(
            (read.public_key, read.endpoint),
            (set.public_key, set.endpoint)
        );
        assert_eq!(
            (&read.allowed_ips, read.keepalive_s),
            (&set.allowed_ips, 25)
        );
    }
}

#[test]
fn many_peers_go_in_several_messages_and_only_the_first_replaces() {
    let device = Device {
        peers: (0..150).map(peer).collect(),
        ..Device::default()
    };
    let mut messages = encode::set_messages(30, 5, &device);
    let flags = |m: &Message| {
        Attrs::after(m.payload(), GENLMSG_LEN)
            .get(WGDEVICE_A_FLAGS)
            .is_some()
    };
    assert_eq!(
        messages.iter().map(flags).collect::<Vec<_>>(),
        [true, false, false]
    );
    assert!(messages.iter_mut().all(|m| m.finish(1).is_some()));
    let parts = messages
        .iter()
        .map(|m| decode::device(m.payload()))
        .collect();
    assert_eq!(decode::join(parts).peers.len(), 150);
}

#[test]
fn endpoints_have_the_lengths_the_kernel_demands() {
    for (n, len) in [(2, 16), (3, 28)] {
        let device = Device {
            peers: vec![peer(n)],
            ..Device::default()
        };
        let m = encode::set_messages(30, 5, &device).remove(0);
        let peers = Attrs::after(m.payload(), GENLMSG_LEN)
            .get(WGDEVICE_A_PEERS)
            .unwrap();
        let first = peers.nested().next().unwrap().nested();
        assert_eq!(first.get(WGPEER_A_ENDPOINT).unwrap().payload.len(), len);
    }
}

#[test]
fn a_missing_family_is_named() {
    let Some(ns) = netns() else { return };
    if let Err(e) = WireGuard::new(ns.generic().unwrap()) {
        assert!(e.to_string().contains("wireguard"), "{e}");
    }
}
