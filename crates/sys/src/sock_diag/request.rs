//! Requests: `struct inet_diag_req_v2` (include/uapi/linux/inet_diag.h, Linux 7.2).

use std::net::{IpAddr, SocketAddr};

use crate::netlink::Message;

/// Message type of requests and replies (`SOCK_DIAG_BY_FAMILY`, include/uapi/linux/sock_diag.h).
const SOCK_DIAG_BY_FAMILY: u16 = 20;
pub(super) const AF_INET: u8 = libc::AF_INET as u8;
pub(super) const AF_INET6: u8 = libc::AF_INET6 as u8;
/// Size of `struct inet_diag_sockid`, all zero in a request for all.
pub(super) const SOCKID_LEN: usize = 48;

/// Extensions of a reply, as attributes (`INET_DIAG_*`). bbr and vegas share one request bit, and
/// reply with their own attribute.
pub(super) const INET_DIAG_INFO: u16 = 2;
pub(super) const INET_DIAG_VEGASINFO: u16 = 3;
pub(super) const INET_DIAG_CONG: u16 = 4;
pub(super) const INET_DIAG_SKMEMINFO: u16 = 7;
pub(super) const INET_DIAG_BBRINFO: u16 = 16;

/// Established connections (`TCP_ESTABLISHED`, include/net/tcp_states.h).
pub const ESTABLISHED: u32 = 1 << 1;
/// Connections that are established or may still transfer data: established, FIN_WAIT1, FIN_WAIT2,
/// CLOSE_WAIT, LAST_ACK, CLOSING.
pub const WITH_DATA: u32 = ESTABLISHED | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// A request for all TCP sockets of an address family in one of `states`.
pub(super) fn tcp_dump(family: u8, states: u32) -> Message {
    let extensions = [
        INET_DIAG_INFO,
        INET_DIAG_VEGASINFO,
        INET_DIAG_CONG,
        INET_DIAG_SKMEMINFO,
    ];
    let bits = extensions.iter().fold(0u8, |set, e| set | 1 << (e - 1));
    let mut message = Message::new(SOCK_DIAG_BY_FAMILY, 0);
    message
        .raw(&[family, libc::IPPROTO_TCP as u8, bits, 0])
        .raw(&states.to_ne_bytes())
        .raw(&[0; SOCKID_LEN]);
    message
}

/// Cookie that fits any socket (`INET_DIAG_NOCOOKIE`, twice).
const NO_COOKIE: [u8; 8] = [0xff; 8];

/// A request for the `TCP_INFO` of the connection between two addresses, which
/// [`info`](super::info) reads from the answer.
pub fn info_request(local: SocketAddr, remote: SocketAddr) -> Message {
    let family = match local {
        SocketAddr::V4(_) => AF_INET,
        SocketAddr::V6(_) => AF_INET6,
    };
    let mut id = Vec::with_capacity(SOCKID_LEN);
    id.extend(local.port().to_be_bytes());
    id.extend(remote.port().to_be_bytes());
    id.extend(room(local.ip()));
    id.extend(room(remote.ip()));
    // Bound to any interface.
    id.extend([0; 4]);
    id.extend(NO_COOKIE);
    let mut message = Message::new(SOCK_DIAG_BY_FAMILY, 0);
    message
        .raw(&[
            family,
            libc::IPPROTO_TCP as u8,
            1 << (INET_DIAG_INFO - 1),
            0,
        ])
        .raw(&u32::MAX.to_ne_bytes())
        .raw(&id);
    message
}

/// An address in the room of the longest one.
fn room(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(short) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&short.octets());
            bytes
        }
        IpAddr::V6(long) => long.octets(),
    }
}
