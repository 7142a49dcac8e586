//! Socket functions beyond the standard library: options, whole-buffer calls that stay in the
//! kernel, datagram batches with kernel receive timestamps.

mod batch;
pub mod icmp;
mod option;
mod udp;

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream},
    os::fd::{AsFd, AsRawFd},
};

use model::text;
use rustix::net::{SocketType, bind, connect, listen, socket, sockopt};

use option::{family, set_u32};

pub use batch::{Batch, send_batch};
pub use udp::{
    MtuDiscovery, known_mtu, set_buffers, set_mtu_discovery, udp, udp_shared, udp_shared_own_family,
};

/// Maximum bytes of one read or write (fs/read_write.c, `MAX_RW_COUNT`), rounded down.
const MAX: usize = 0x4000_0000;

/// Options a TCP socket needs before it connects or listens.
#[derive(Clone, Debug, Default)]
pub struct TcpOptions {
    /// Congestion control by its kernel name; absent = the host's default.
    pub congestion: Option<String>,
    /// Limit of unsent bytes (`TCP_NOTSENT_LOWAT`); absent = the host's default.
    pub notsent_lowat: Option<u32>,
    /// True if an IPv6 listener leaves IPv4 to others (`IPV6_V6ONLY`, ipv6(7)).
    pub own_family: bool,
}

impl TcpOptions {
    fn apply(&self, fd: &rustix::fd::OwnedFd) -> io::Result<()> {
        if let Some(name) = &self.congestion {
            sockopt::set_tcp_congestion(fd, name).map_err(|e| refused(name, &e.into()))?;
        }
        if let Some(bytes) = self.notsent_lowat {
            set_u32(
                fd.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_NOTSENT_LOWAT,
                bytes,
            )?;
        }
        Ok(())
    }
}

/// This host does not let a socket use a congestion control.
fn refused(congestion: &str, error: &io::Error) -> io::Error {
    io::Error::other(text!(
        "congestion control {name}: {error}",
        name = congestion,
        error = error
    ))
}

/// A listening socket on `address`.
///
/// # Errors
/// The address is not of this host, or its port is taken.
pub fn tcp_listener(address: SocketAddr, options: &TcpOptions) -> io::Result<TcpListener> {
    let fd = socket(family(address), SocketType::STREAM, None)?;
    sockopt::set_socket_reuseaddr(&fd, true)?;
    if address.is_ipv6() && options.own_family {
        sockopt::set_ipv6_v6only(&fd, true)?;
    }
    options.apply(&fd)?;
    bind(&fd, &address)?;
    listen(&fd, 4096)?;
    Ok(fd.into())
}

/// Sets the number of SYN-ACK retransmissions of a listener, 1 to 127; the default is the host's
/// (`net.ipv4.tcp_synack_retries`, 5). If a SYN-ACK is lost, the peer's retransmitted SYN triggers
/// another, so 1 is sufficient, and reduces reflection to forged addresses (`TCP_SYNCNT`;
/// net/ipv4/inet_connection_sock.c, `reqsk_timer_handler`, 6.1).
///
/// # Errors
/// The kernel refused: `setsockopt(2)`.
pub fn set_syn_ack_retries(listener: &TcpListener, times: u32) -> io::Result<()> {
    set_u32(
        listener.as_raw_fd(),
        libc::IPPROTO_TCP,
        libc::TCP_SYNCNT,
        times,
    )
}

/// A socket with these options that is to be connected to `address`.
///
/// # Errors
/// The kernel refused an option.
pub fn tcp_unconnected(address: SocketAddr, options: &TcpOptions) -> io::Result<TcpStream> {
    let fd = socket(family(address), SocketType::STREAM, None)?;
    options.apply(&fd)?;
    Ok(fd.into())
}

/// Connects a socket to `address`; blocks until the connection is established or rejected.
///
/// # Errors
/// There is no response, or the connection is refused.
pub fn tcp_connect(stream: &TcpStream, address: SocketAddr) -> io::Result<()> {
    Ok(connect(stream, &address)?)
}

/// Longest time between retransmissions of [`set_persistent`], and time until the kernel gives up,
/// ms.
const PERSISTENT: [u32; 2] = [5_000, 180_000];
/// Not in `libc` (include/uapi/linux/tcp.h, since 6.15).
const TCP_RTO_MAX_MS: libc::c_int = 44;

/// Makes a connection of few, small messages go on within seconds when a path carries packets
/// again: its retransmission timeout does not double while little is in flight
/// (`TCP_THIN_LINEAR_TIMEOUTS`, six times; tcp_retransmit_timer, net/ipv4/tcp_timer.c), and reaches
/// 5 s at most, not two minutes. After 3 min without an answer the kernel gives up, not after the
/// number of retransmissions, which are now closer together (`TCP_USER_TIMEOUT`). Its congestion
/// control is cubic or reno: bbr, where it is the default, takes what little an overloaded path
/// delivered for the path's rate, and then paces some kB/s for a minute. What a kernel does not
/// have, or does not permit, stays as it is.
pub fn set_persistent(stream: &TcpStream) {
    let [most, until] = PERSISTENT;
    for (option, value) in [
        (libc::TCP_THIN_LINEAR_TIMEOUTS, 1),
        (libc::TCP_USER_TIMEOUT, until),
        (TCP_RTO_MAX_MS, most),
    ] {
        let _ = set_u32(stream.as_raw_fd(), libc::IPPROTO_TCP, option, value);
    }
    let _ = ["cubic", "reno"]
        .iter()
        .find(|name| sockopt::set_tcp_congestion(stream, name).is_ok());
}

/// Bytes of the name of a congestion control, its zero included (`TCP_CA_NAME_MAX`,
/// include/net/tcp.h).
const CONGESTION_LEN: usize = 16;

/// The congestion control in use by a socket.
///
/// # Errors
/// Not a TCP socket; `Unsupported` if the environment truncates the name, as QEMU's user mode does
/// to four bytes.
pub fn congestion(stream: &TcpStream) -> io::Result<String> {
    let mut name = [0u8; CONGESTION_LEN];
    let mut len = CONGESTION_LEN as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to `name`; both outlive the call.
    let rc = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    if rc != 0 {
        return Err(io::Error::last_os_error());
    }
    let end = name.iter().position(|byte| *byte == 0);
    // The kernel fills the whole buffer (net/ipv4/tcp.c, do_tcp_getsockopt).
    match (len as usize, end) {
        (CONGESTION_LEN, Some(end)) => Ok(String::from_utf8_lossy(&name[..end]).into_owned()),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Changes the congestion control of a connected socket.
///
/// # Errors
/// The kernel lacks it, or does not permit it to this process. In QEMU's user mode, where it can be
/// neither set nor read, the host's default is used without an error.
pub fn set_congestion(stream: &TcpStream, name: &str) -> io::Result<()> {
    let Err(error) = sockopt::set_tcp_congestion(stream, name) else {
        return Ok(());
    };
    let untold = congestion(stream).is_err_and(|e| e.kind() == io::ErrorKind::Unsupported);
    let default = crate::sysctl::read("net.ipv4.tcp_congestion_control");
    if untold && default.is_ok_and(|default| default == name) {
        return Ok(());
    }
    Err(error.into())
}

/// Reads and discards up to `len` bytes (at most 1 GiB per call), blocking until all have arrived,
/// the peer closes or the socket is shut down. Nothing is copied, and the thread stays in the
/// kernel between packets, so each packet is consumed on arrival with a single system call.
///
/// # Errors
/// The connection failed, or a read timeout passed.
pub fn discard(stream: &TcpStream, len: usize) -> io::Result<usize> {
    let mut nowhere = 0u8;
    // SAFETY: with MSG_TRUNC the kernel advances over TCP data without writing to the buffer
    // (net/ipv4/tcp.c, tcp_recvmsg_locked), so its length need not be backed by memory.
    let n = unsafe {
        libc::recv(
            stream.as_raw_fd(),
            (&raw mut nowhere).cast(),
            len.min(MAX),
            libc::MSG_TRUNC | libc::MSG_WAITALL,
        )
    };
    let Ok(n) = usize::try_from(n) else {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EFAULT) => discard_copied(stream, len),
            _ => Err(error),
        };
    };
    Ok(n)
}

/// Like [`discard`], for environments that need a real buffer, such as QEMU's user mode.
fn discard_copied(stream: &TcpStream, len: usize) -> io::Result<usize> {
    let mut buffer = [0; 16 << 10];
    let most = len.min(buffer.len());
    receive_whole(stream, &mut buffer[..most])
}

/// Reads into `buffer` until it is full, the peer closes or the socket is shut down. The thread
/// stays in the kernel between packets.
///
/// # Errors
/// The connection failed, or a read timeout passed.
pub fn receive_whole(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    let (n, _) = rustix::net::recv(stream, buffer, rustix::net::RecvFlags::WAITALL)?;
    Ok(n)
}

/// Makes closing a connection discard unsent data (`SO_LINGER` of 0, socket(7)).
///
/// # Errors
/// The kernel refused: `setsockopt(2)`.
pub fn set_abort(stream: &TcpStream) -> io::Result<()> {
    Ok(sockopt::set_socket_linger(
        stream,
        Some(std::time::Duration::ZERO),
    )?)
}

/// Enables keepalive: after `silence` without data from the peer, the kernel sends `tries` probes,
/// one per `interval`, and then closes the connection (tcp(7)).
///
/// # Errors
/// Not a TCP socket.
pub fn keep_alive(
    stream: &TcpStream,
    silence: std::time::Duration,
    interval: std::time::Duration,
    tries: u32,
) -> io::Result<()> {
    sockopt::set_tcp_keepidle(stream, silence)?;
    sockopt::set_tcp_keepintvl(stream, interval)?;
    sockopt::set_tcp_keepcnt(stream, tries)?;
    Ok(sockopt::set_socket_keepalive(stream, true)?)
}

/// An in-memory file of zeroes, for sending without copying.
///
/// # Errors
/// The host has no memory or descriptor for it.
pub fn zeroes(bytes: u64) -> io::Result<std::fs::File> {
    let fd = rustix::fs::memfd_create("zeroes", rustix::fs::MemfdFlags::CLOEXEC)?;
    let file = std::fs::File::from(fd);
    file.set_len(bytes)?;
    Ok(file)
}

/// Sends `len` bytes of `file` from its start; blocks; may send less.
///
/// # Errors
/// The connection failed, or a write timeout passed.
pub fn send_file(stream: &TcpStream, file: &std::fs::File, len: usize) -> io::Result<usize> {
    let mut offset = 0;
    Ok(rustix::fs::sendfile(stream, file, Some(&mut offset), len)?)
}

/// Sets the maximum pacing rate of this socket, bytes per second.
///
/// # Errors
/// The kernel refused: `setsockopt(2)`.
pub fn set_max_pacing(fd: &impl AsRawFd, bytes_per_second: u64) -> io::Result<()> {
    // SAFETY: the option takes an unsigned long and only reads it.
    let rc = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const bytes_per_second).cast(),
            8,
        )
    };
    if rc == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Requests buffers of a socket in both directions, bytes, within the host's limits.
///
/// # Errors
/// The kernel refused: `setsockopt(2)`.
pub fn set_window(fd: &impl AsFd, bytes: usize) -> io::Result<()> {
    sockopt::set_socket_recv_buffer_size(fd, bytes)?;
    Ok(sockopt::set_socket_send_buffer_size(fd, bytes)?)
}

/// Sets the type of service (IPv4) or traffic class (IPv6) of a socket.
///
/// # Errors
/// The kernel refused: `setsockopt(2)`.
pub fn set_tos(fd: &impl AsFd, is_ipv4: bool, tos: u8) -> io::Result<()> {
    if is_ipv4 {
        Ok(sockopt::set_ip_tos(fd, tos)?)
    } else {
        Ok(sockopt::set_ipv6_tclass(fd, tos.into())?)
    }
}
