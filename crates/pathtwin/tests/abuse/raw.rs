//! IPv4 packets with a source address of one's choice, and those that are sent to an address.

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, recv, sendto,
    socket_with, sockopt,
};

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const IP: usize = 20;
const UDP: usize = 8;

fn open(protocol: rustix::net::Protocol) -> rustix::fd::OwnedFd {
    let flags = SocketFlags::CLOEXEC;
    socket_with(AddressFamily::INET, SocketType::RAW, flags, Some(protocol)).expect("a raw socket")
}

fn v4(address: SocketAddr) -> Ipv4Addr {
    match address.ip() {
        IpAddr::V4(ip) => ip,
        IpAddr::V6(_) => unreachable!("loopback of IPv4"),
    }
}

/// Sends a datagram from an address that is not one's own; returns the bytes of its packet.
pub(super) fn send(from: SocketAddr, to: SocketAddr, payload: &[u8]) -> usize {
    thread_local!(static SOCKET: rustix::fd::OwnedFd = open(ipproto::RAW));
    let length = IP + UDP + payload.len();
    let mut packet = Vec::with_capacity(length);
    // RFC 791; the kernel fills in the length and the checksum (raw(7)).
    packet.extend([0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0]);
    packet.extend(v4(from).octets());
    packet.extend(v4(to).octets());
    // RFC 768; a checksum of 0 is none.
    for half in [from.port(), to.port(), (UDP + payload.len()) as u16, 0] {
        packet.extend(half.to_be_bytes());
    }
    packet.extend(payload);
    SOCKET.with(|s| sendto(s, &packet, SendFlags::empty(), &to).expect("send"));
    length
}

/// Sees what a server sends to an address.
pub(super) struct Tap {
    socket: rustix::fd::OwnedFd,
    server: SocketAddr,
    victim: SocketAddr,
    seen: std::cell::Cell<usize>,
}

impl Tap {
    pub(super) fn new(server: SocketAddr, victim: SocketAddr) -> Self {
        let socket = open(ipproto::UDP);
        let _ = sockopt::set_socket_recv_buffer_size(&socket, 4 << 20);
        Self {
            socket,
            server,
            victim,
            seen: Default::default(),
        }
    }

    /// Bytes of packets so far.
    pub(super) fn read(&self) -> usize {
        let mut packet = [0; 65_536];
        while let Ok((_, length)) = recv(&self.socket, &mut packet, RecvFlags::DONTWAIT) {
            let is = |at: usize, ip: SocketAddr| packet[at..at + 4] == v4(ip).octets();
            let port = u16::from_be_bytes([packet[IP], packet[IP + 1]]);
            if is(12, self.server) && is(16, self.victim) && port == self.server.port() {
                self.seen.set(self.seen.get() + length);
            }
        }
        self.seen.get()
    }
}
