//! UDP sockets: addresses, path MTU discovery, buffers.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    os::fd::AsRawFd,
};

use rustix::net::{SocketType, bind, socket, sockopt};

use super::option::{family, set_u32};

/// Path MTU discovery mode of a UDP socket (ip(7), `IP_MTU_DISCOVER`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MtuDiscovery {
    /// Fragments large datagrams.
    Dont,
    /// Never fragments; datagrams above the known path MTU fail with `EMSGSIZE`.
    Do,
    /// Never fragments, and ignores the known path MTU.
    Probe,
}

/// Sets the path MTU discovery mode of a UDP socket.
///
/// # Errors
/// The kernel refused: `setsockopt(2)`.
pub fn set_mtu_discovery(socket: &UdpSocket, mode: MtuDiscovery) -> io::Result<()> {
    let v4 = socket.local_addr()?.is_ipv4();
    // The three values are the same for both families (include/uapi/linux/in.h and in6.h).
    let value = match mode {
        MtuDiscovery::Dont => libc::IP_PMTUDISC_DONT,
        MtuDiscovery::Do => libc::IP_PMTUDISC_DO,
        MtuDiscovery::Probe => libc::IP_PMTUDISC_PROBE,
    };
    let (level, name) = if v4 {
        (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER)
    } else {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER)
    };
    set_u32(socket.as_raw_fd(), level, name, value as u32)
}

/// The path MTU known to the kernel, of a connected UDP socket (ip(7), `IP_MTU`).
///
/// # Errors
/// The socket is not connected.
pub fn known_mtu(socket: &UdpSocket) -> io::Result<u32> {
    let (level, name) = if socket.local_addr()?.is_ipv4() {
        (libc::IPPROTO_IP, libc::IP_MTU)
    } else {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU)
    };
    let (mut value, mut len) = (0u32, 4 as libc::socklen_t);
    // SAFETY: the kernel writes at most `len` bytes to `value`; both outlive the call.
    let rc = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw mut value).cast(),
            &raw mut len,
        )
    };
    if rc == 0 {
        Ok(value)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// A UDP socket on a shared `address`, with kernel receive timestamps if available. Among sockets
/// of one port the kernel delivers a datagram to the one connected to its sender, if any
/// (net/ipv4/udp.c, `compute_score`).
///
/// # Errors
/// The address is not of this host, or its port is taken.
pub fn udp_shared(address: SocketAddr) -> io::Result<UdpSocket> {
    shared(address, false)
}

/// Like [`udp_shared`], without IPv4 on an IPv6 address (`IPV6_V6ONLY`, ipv6(7)).
///
/// # Errors
/// The address is not of this host, or its port is taken.
pub fn udp_shared_own_family(address: SocketAddr) -> io::Result<UdpSocket> {
    shared(address, true)
}

/// Requests kernel receive timestamps; QEMU's user mode does not support them. `Batch` then uses
/// the time after the call.
pub(super) fn request_receive_times(fd: &impl AsRawFd) {
    let _ = set_u32(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1);
}

fn shared(address: SocketAddr, own_family: bool) -> io::Result<UdpSocket> {
    let fd = socket(family(address), SocketType::DGRAM, None)?;
    sockopt::set_socket_reuseaddr(&fd, true)?;
    if address.is_ipv6() && own_family {
        sockopt::set_ipv6_v6only(&fd, true)?;
    }
    bind(&fd, &address)?;
    request_receive_times(&fd);
    Ok(fd.into())
}

/// A UDP socket on `address`, with kernel receive timestamps if available.
///
/// # Errors
/// The address is not of this host, or its port is taken.
pub fn udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let fd = socket(family(address), SocketType::DGRAM, None)?;
    bind(&fd, &address)?;
    request_receive_times(&fd);
    Ok(fd.into())
}

/// Sets the buffer limits of a socket, bytes.
///
/// # Errors
/// The kernel refused: `setsockopt(2)`.
pub fn set_buffers(socket: &UdpSocket, receive: usize, send: usize) -> io::Result<()> {
    // The forced options exceed the host's limits if permitted; otherwise the plain ones are used.
    if sockopt::set_socket_recv_buffer_size_force(socket, receive).is_err() {
        sockopt::set_socket_recv_buffer_size(socket, receive)?;
    }
    sockopt::set_socket_send_buffer_size(socket, send)?;
    Ok(())
}
