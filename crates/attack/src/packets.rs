//! Sending of IPv4 packets with forged source addresses, and capturing of packets to an address.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use rustix::{
    fd::OwnedFd,
    net::{
        AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, recv,
        sendto, socket_with, sockopt,
    },
};

use crate::trouble::Trouble;

const IP: usize = 20;
const UDP: usize = 8;

/// A raw socket, which needs root.
fn open(protocol: Protocol) -> Result<OwnedFd, Trouble> {
    let flags = SocketFlags::CLOEXEC;
    match socket_with(AddressFamily::INET, SocketType::RAW, flags, Some(protocol)) {
        Ok(socket) => Ok(socket),
        Err(rustix::io::Errno::PERM) => Err(Trouble::Needs("root, for a forged source address")),
        Err(e) => Err(io::Error::from(e).into()),
    }
}

fn v4(address: SocketAddr) -> Ipv4Addr {
    match address.ip() {
        IpAddr::V4(ip) => ip,
        IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
    }
}

/// Sender of packets with forged source addresses.
pub struct Forger(OwnedFd);

impl Forger {
    /// Opens the raw socket.
    ///
    /// # Errors
    /// Insufficient privileges.
    pub fn new() -> Result<Self, Trouble> {
        open(ipproto::RAW).map(Self)
    }

    /// Sends a datagram with a forged source address; returns the size of its packet.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn send(&self, from: SocketAddr, to: SocketAddr, payload: &[u8]) -> io::Result<usize> {
        let length = IP + UDP + payload.len();
        let mut packet = Vec::with_capacity(length);
        // RFC 791; the kernel fills in the length and the checksum (raw(7)).
        packet.extend([0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0]);
        packet.extend(v4(from).octets());
        packet.extend(v4(to).octets());
        // RFC 768: a checksum of 0 means no checksum.
        for half in [from.port(), to.port(), (UDP + payload.len()) as u16, 0] {
            packet.extend(half.to_be_bytes());
        }
        packet.extend(payload);
        sendto(&self.0, &packet, SendFlags::empty(), &to)?;
        Ok(length)
    }
}

/// Capture of packets from a server to an address.
pub struct Tap {
    socket: OwnedFd,
    server: SocketAddr,
    victim: Ipv4Addr,
    seen: usize,
}

impl Tap {
    /// Captures packets from a server's address and port to an address.
    ///
    /// # Errors
    /// Insufficient privileges.
    pub fn new(server: SocketAddr, victim: Ipv4Addr) -> Result<Self, Trouble> {
        let socket = open(ipproto::UDP)?;
        let _ = sockopt::set_socket_recv_buffer_size(&socket, 4 << 20);
        Ok(Self {
            socket,
            server,
            victim,
            seen: 0,
        })
    }

    /// Captured bytes so far; must be called frequently.
    pub fn read(&mut self) -> usize {
        let mut packet = [0; 65_536];
        while let Ok((_, length)) = recv(&self.socket, &mut packet, RecvFlags::DONTWAIT) {
            let is = |at: usize, ip: Ipv4Addr| packet[at..at + 4] == ip.octets();
            let port = u16::from_be_bytes([packet[IP], packet[IP + 1]]);
            if is(12, v4(self.server)) && is(16, self.victim) && port == self.server.port() {
                self.seen += length;
            }
        }
        self.seen
    }
}
