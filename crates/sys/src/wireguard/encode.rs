//! Encoder of messages to the wireguard family.

use std::net::{IpAddr, SocketAddr};

use crate::netlink::Message;

use super::attribute::{
    WGALLOWEDIP_A_CIDR_MASK, WGALLOWEDIP_A_FAMILY, WGALLOWEDIP_A_IPADDR, WGDEVICE_A_FLAGS,
    WGDEVICE_A_FWMARK, WGDEVICE_A_IFINDEX, WGDEVICE_A_LISTEN_PORT, WGDEVICE_A_PEERS,
    WGDEVICE_A_PRIVATE_KEY, WGDEVICE_F_REPLACE_PEERS, WGPEER_A_ALLOWEDIPS, WGPEER_A_ENDPOINT,
    WGPEER_A_FLAGS, WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL, WGPEER_A_PRESHARED_KEY,
    WGPEER_A_PUBLIC_KEY, WGPEER_F_REPLACE_ALLOWEDIPS,
};
use super::device::{Device, Peer};

const WG_CMD_SET_DEVICE: u8 = 1;
/// `WG_GENL_VERSION`.
const WG_GENL_VERSION: u8 = 1;
/// Peers per message: far below the 16-bit length of an attribute, with a few allowed addresses
/// each.
const PEERS_PER_MESSAGE: usize = 64;

/// A message that names a device.
pub(super) fn header(family: u16, command: u8, ifindex: u32) -> Message {
    let mut m = Message::new(family, 0);
    m.raw(&[command, WG_GENL_VERSION, 0, 0])
        .u32(WGDEVICE_A_IFINDEX, ifindex);
    m
}

/// The first message contains the device's settings and removes existing peers; the others add
/// peers.
pub(super) fn set_messages(family: u16, ifindex: u32, device: &Device) -> Vec<Message> {
    let mut first = header(family, WG_CMD_SET_DEVICE, ifindex);
    if let Some(key) = &device.private_key {
        first.attr(WGDEVICE_A_PRIVATE_KEY, key);
    }
    if let Some(port) = device.listen_port {
        first.u16(WGDEVICE_A_LISTEN_PORT, port);
    }
    first.opt_u32(WGDEVICE_A_FWMARK, device.fwmark);
    first.u32(WGDEVICE_A_FLAGS, WGDEVICE_F_REPLACE_PEERS);
    let mut chunks = device.peers.chunks(PEERS_PER_MESSAGE);
    add_peers(&mut first, chunks.next().unwrap_or_default());
    let rest = chunks.map(|peers| {
        let mut m = header(family, WG_CMD_SET_DEVICE, ifindex);
        add_peers(&mut m, peers);
        m
    });
    std::iter::once(first).chain(rest).collect()
}

fn add_peers(m: &mut Message, peers: &[Peer]) {
    if peers.is_empty() {
        return;
    }
    m.nest_flagged(WGDEVICE_A_PEERS, |m| {
        for (i, peer) in (0u16..).zip(peers) {
            m.nest_flagged(i, |m| add_peer(m, peer));
        }
    });
}

fn add_peer(m: &mut Message, peer: &Peer) {
    m.attr(WGPEER_A_PUBLIC_KEY, &peer.public_key);
    if let Some(key) = &peer.preshared_key {
        m.attr(WGPEER_A_PRESHARED_KEY, key);
    }
    m.u32(WGPEER_A_FLAGS, WGPEER_F_REPLACE_ALLOWEDIPS);
    if let Some(endpoint) = peer.endpoint {
        m.attr(WGPEER_A_ENDPOINT, &sockaddr(endpoint));
    }
    if let Some(seconds) = peer.keepalive_s {
        m.u16(WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL, seconds);
    }
    m.nest_flagged(WGPEER_A_ALLOWEDIPS, |m| {
        for (i, (address, prefix_len)) in (0u16..).zip(&peer.allowed_ips) {
            m.nest_flagged(i, |m| add_allowed_ip(m, *address, *prefix_len));
        }
    });
}

fn add_allowed_ip(m: &mut Message, address: IpAddr, prefix_len: u8) {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    m.u16(WGALLOWEDIP_A_FAMILY, family as u16);
    m.ip(WGALLOWEDIP_A_IPADDR, address)
        .u8(WGALLOWEDIP_A_CIDR_MASK, prefix_len);
}

/// `struct sockaddr_in` (16 bytes) or `struct sockaddr_in6` (28 bytes): port and address in network
/// byte order.
fn sockaddr(endpoint: SocketAddr) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(28);
    match endpoint {
        SocketAddr::V4(v4) => {
            bytes.extend((libc::AF_INET as u16).to_ne_bytes());
            bytes.extend(v4.port().to_be_bytes());
            bytes.extend(v4.ip().octets());
            bytes.extend([0; 8]);
        }
        SocketAddr::V6(v6) => {
            bytes.extend((libc::AF_INET6 as u16).to_ne_bytes());
            bytes.extend(v6.port().to_be_bytes());
            bytes.extend(v6.flowinfo().to_be_bytes());
            bytes.extend(v6.ip().octets());
            bytes.extend(v6.scope_id().to_ne_bytes());
        }
    }
    bytes
}
