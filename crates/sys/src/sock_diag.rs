//! Live TCP sockets of a network namespace, with the kernel's state of each
//! (include/uapi/linux/inet_diag.h, net/ipv4/inet_diag.c, Linux 7.2): the data of `ss -tni`.
//!
//! It needs no privileges. A namespace shows only its own sockets, not those of containers.

mod decode;
mod owner;
mod request;

use std::fmt::Display;
use std::net::SocketAddr;

use crate::netlink::{Netlink, NetlinkError};
use crate::tcp_info::{BbrInfo, TcpInfo};

pub use decode::info;
pub use owner::{Owner, owners};
pub use request::{ESTABLISHED, WITH_DATA, info_request};

/// A TCP socket in a dump.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpSocket {
    /// Unique id of the socket since boot (`sock_gen_cookie`).
    pub cookie: u64,
    /// State, as in [`TcpInfo::state`].
    pub state: u8,
    /// Local address and port. IPv4 in an IPv6 socket is shown as IPv4.
    pub local: SocketAddr,
    /// The peer's address and port.
    pub remote: SocketAddr,
    /// Index of the interface it is bound to.
    pub bound_to: Option<u32>,
    /// User who owns it.
    pub uid: u32,
    /// Inode of its descriptor; absent if no process owns it, or it belongs to the kernel.
    pub inode: Option<u32>,
    /// Bytes received that the application has not read.
    pub receive_queue_bytes: u32,
    /// Bytes written that the peer has not acknowledged.
    pub send_queue_bytes: u32,
    /// Congestion control in use.
    pub congestion: Option<String>,
    /// State of the connection.
    pub info: Option<TcpInfo>,
    /// State of bbr, where that is in use.
    pub bbr: Option<BbrInfo>,
    /// Its memory.
    pub memory: Option<SocketMemory>,
}

/// Memory of a socket (`INET_DIAG_SKMEMINFO`; `SK_MEMINFO_*` in include/uapi/linux/sock_diag.h). It
/// includes the kernel's overhead, so a buffer holds about half of it as payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketMemory {
    /// Memory of received data, bytes.
    pub receive_used_bytes: u32,
    /// Receive limit (`sk_rcvbuf`), bytes.
    pub receive_limit_bytes: u32,
    /// Memory of data in queues and devices, bytes.
    pub send_in_queues_bytes: u32,
    /// Send limit (`sk_sndbuf`), bytes.
    pub send_limit_bytes: u32,
    /// Memory of written data, bytes.
    pub send_used_bytes: u32,
    /// Packets dropped at the socket; absent before Linux 4.6.
    pub drops: Option<u32>,
}

impl Netlink {
    /// Opens a socket for [`tcp_sockets`] in the calling thread's network namespace.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn sock_diag() -> Result<Self, NetlinkError> {
        Self::open(
            Some(rustix::net::netlink::SOCK_DIAG),
            "open a socket monitoring (sock_diag) netlink socket",
        )
    }
}

/// All TCP sockets, IPv4 and IPv6, in one of `states`, a set of `1 << state`: [`ESTABLISHED`],
/// [`WITH_DATA`].
///
/// # Errors
/// `ENOENT`: the kernel lacks `CONFIG_INET_DIAG` or `CONFIG_INET_TCP_DIAG`, or may not load their
/// modules.
pub fn tcp_sockets(nl: &mut Netlink, states: u32) -> Result<Vec<TcpSocket>, NetlinkError> {
    let mut sockets = dump(
        nl,
        request::AF_INET,
        states,
        "list the TCP sockets over IPv4",
    )?;
    match dump(
        nl,
        request::AF_INET6,
        states,
        "list the TCP sockets over IPv6",
    ) {
        Ok(more) => sockets.extend(more),
        // IPv4 succeeded, so the kernel supports dumps, but not IPv6.
        Err(e) if e.errno == libc::ENOENT => {}
        Err(e) => return Err(e),
    }
    Ok(sockets)
}

/// Returns true if an error number of [`tcp_sockets`] or of [`Netlink::sock_diag`] means that the
/// kernel cannot list sockets.
pub fn lacks(errno: i32) -> bool {
    matches!(
        errno,
        libc::ENOENT | libc::EPROTONOSUPPORT | libc::EAFNOSUPPORT | libc::EOPNOTSUPP
    )
}

fn dump(
    nl: &mut Netlink,
    family: u8,
    states: u32,
    op: impl Display,
) -> Result<Vec<TcpSocket>, NetlinkError> {
    let mut message = request::tcp_dump(family, states);
    nl.dump(&mut message, op, TcpSocket::parse)
}

#[cfg(test)]
mod tests;
