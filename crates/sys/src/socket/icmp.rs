//! Sockets for ICMP echo, for probes to hosts without pathtwin.
//!
//! The kernel offers two kinds. A datagram socket needs no privilege where the group of the caller
//! is within `net.ipv4.ping_group_range`; the kernel sets identifier and checksum and delivers only
//! replies to this socket (net/ipv4/ping.c, Linux 6.1). A raw socket needs CAP_NET_RAW, and gets
//! all ICMP of its peer.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
};

use rustix::net::{SocketType, connect, ipproto, socket};

use super::{option::family, udp::request_receive_times};

/// Bytes of the header of an echo message (RFC 792, RFC 4443 section 4.1).
pub const HEADER: usize = 8;

/// Type of a request and of its reply.
const TYPES_V4: [u8; 2] = [8, 0];
const TYPES_V6: [u8; 2] = [128, 129];

/// Format of a socket's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    types: [u8; 2],
    id: u16,
    /// True for a raw socket. Its sender sets the identifier, and it reads all messages of the
    /// peer.
    raw: bool,
    /// True if, in addition, the sender sets the checksum, and an IPv4 header comes first: the
    /// kernel sums ICMPv6 also of raw sockets (RFC 3542 section 3.1).
    raw_v4: bool,
}

impl Echo {
    /// Writes a request of `payload` into `message`, which has [`HEADER`] bytes more.
    pub fn request(&self, number: u16, payload: &[u8], message: &mut [u8]) {
        let [high, low] = self.id.to_be_bytes();
        let [first, last] = number.to_be_bytes();
        let header = [self.types[0], 0, 0, 0, high, low, first, last];
        let bytes = header.iter().chain(payload);
        for (to, from) in message.iter_mut().zip(bytes) {
            *to = *from;
        }
        if self.raw_v4 && message.len() >= HEADER {
            let sum = checksum(message).to_be_bytes();
            message[2..4].copy_from_slice(&sum);
        }
    }

    /// The payload of a reply to a request of this socket; `None` for other messages.
    pub fn reply<'a>(&self, message: &'a [u8]) -> Option<&'a [u8]> {
        let message = match self.raw_v4 {
            true => message.get(usize::from(message.first()? & 15) * 4..)?,
            false => message,
        };
        let (header, payload) = message.split_at_checked(HEADER)?;
        let own = !self.raw || header[4..6] == self.id.to_be_bytes();
        (header[0] == self.types[1] && header[1] == 0 && own).then_some(payload)
    }
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// A socket that is connected to `address`, with kernel receive timestamps if available, and the
/// format of its messages. It is not a UDP socket, but supports the same calls. `id` distinguishes
/// a raw socket's requests from those of other programs.
///
/// # Errors
/// This process may open neither kind of socket, or there is no route.
pub fn echo_socket(address: IpAddr, id: u16) -> io::Result<(UdpSocket, Echo)> {
    let to = SocketAddr::new(address, 0);
    let (protocol, types) = match address {
        IpAddr::V4(_) => (ipproto::ICMP, TYPES_V4),
        IpAddr::V6(_) => (ipproto::ICMPV6, TYPES_V6),
    };
    let open = |kind: SocketType| socket(family(to), kind, Some(protocol));
    let (fd, raw) = match open(SocketType::DGRAM) {
        Ok(fd) => (fd, false),
        Err(_) => (open(SocketType::RAW)?, true),
    };
    connect(&fd, &to)?;
    let echo = Echo {
        types,
        id,
        raw,
        raw_v4: raw && address.is_ipv4(),
    };
    request_receive_times(&fd);
    Ok((fd.into(), echo))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn raw() -> Echo {
        Echo {
            types: TYPES_V4,
            id: 0x1234,
            raw: true,
            raw_v4: true,
        }
    }

    /// RFC 1071 section 1: the sum over a message with its checksum is all ones.
    #[test]
    fn a_request_sums_to_all_ones() {
        for payload in [&b"abc"[..], b"", b"0123456789"] {
            let mut message = vec![0; HEADER + payload.len()];
            raw().request(7, payload, &mut message);
            assert_eq!(checksum(&message), 0, "{payload:?}");
            assert_eq!(message[0], 8);
        }
    }

    #[test]
    fn only_replies_to_own_requests_are_read() {
        let mut message = vec![0; HEADER + 3];
        raw().request(7, b"abc", &mut message);
        message[0] = 0;
        let packet = |message: &[u8]| [&[0x45; 20][..], message].concat();
        assert_eq!(raw().reply(&packet(&message)), Some(&b"abc"[..]));
        message[5] ^= 1;
        assert_eq!(raw().reply(&packet(&message)), None);
        assert_eq!(raw().reply(&packet(&message)[..25]), None);
        assert_eq!(raw().reply(&[]), None);
    }

    /// Loopback replies by itself. If neither kind of socket is permitted, nothing is tested.
    #[test]
    fn this_host_answers() {
        let Ok((socket, echo)) = echo_socket("127.0.0.1".parse().unwrap(), 99) else {
            return;
        };
        let mut message = [0; HEADER + 5];
        echo.request(1, b"hello", &mut message);
        socket.send(&message).unwrap();
        socket
            .set_read_timeout(Some(std::time::Duration::from_secs(5)))
            .unwrap();
        let mut buffer = [0; 256];
        loop {
            let n = socket.recv(&mut buffer).unwrap();
            if let Some(payload) = echo.reply(&buffer[..n]) {
                assert_eq!(payload, b"hello");
                break;
            }
        }
    }
}
