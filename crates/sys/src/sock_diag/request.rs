//! Requests: `struct inet_diag_req_v2` (include/uapi/linux/inet_diag.h, Linux 7.2).

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
