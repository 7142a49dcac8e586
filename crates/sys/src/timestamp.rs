//! Kernel timestamps of received and sent datagrams (`SO_TIMESTAMPING`,
//! Documentation/networking/timestamping.rst, Linux 7.2), so that a probe's RTT excludes scheduling
//! delays of its programs.
//!
//! Stamps are CLOCK_REALTIME nanoseconds; [`crate::clock::realtime_offset`] converts them to
//! CLOCK_MONOTONIC. Received datagrams carry their timestamp. Timestamps of sent datagrams are
//! returned through the socket's error queue, which shares the receive buffer's memory: the sender
//! must read it ([`Stamped::transmitted`]). A socket with something in that queue is reported as
//! `POLLERR` by poll.
//!
//! Without kernel support, [`Stamped::support`] reports it and everything else works.

pub(crate) mod control;
mod ids;

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    os::fd::AsRawFd,
};

use crate::{bytes, clock};
use control::{SO_TIMESTAMPING_NEW, SO_TIMESTAMPING_OLD};
use ids::Ids;

pub use control::Stage;

/// Flags (include/uapi/linux/net_tstamp.h).
const TX_SOFTWARE: u32 = 1 << 1;
const RX_SOFTWARE: u32 = 1 << 3;
const SOFTWARE: u32 = 1 << 4;
const OPT_ID: u32 = 1 << 7;
const TX_SCHED: u32 = 1 << 8;
/// Timestamps are returned without the datagram, which needs no privilege.
const OPT_TSONLY: u32 = 1 << 11;
const TRANSMIT: u32 = TX_SOFTWARE | TX_SCHED | OPT_ID | OPT_TSONLY;
const RECEIVE: u32 = RX_SOFTWARE | SOFTWARE;

/// Buffer size for the control messages of one datagram: two kinds of time (32 and 64 bytes), the
/// error with its origin (up to 64), and others that may be enabled.
const CONTROL_WORDS: usize = 32;
/// Stamps fetched by one call.
const BATCH: usize = 32;

/// Timestamps of the kernel on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// Received datagrams.
    pub receive: bool,
    /// Sent datagrams.
    pub transmit: bool,
}

/// The stamp of a sent datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmitted {
    /// Number of the datagram from [`Stamped::send`].
    pub id: u64,
    /// Point of the timestamp.
    pub stage: Stage,
    /// Time of the stamp, CLOCK_REALTIME ns.
    pub at_ns: u64,
}

/// A received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its bytes that fit into the buffer.
    pub len: usize,
    /// Source address; absent if the kernel did not report it.
    pub from: Option<SocketAddr>,
    /// Kernel receive time, CLOCK_REALTIME ns; absent if it was not stamped. The first ones after
    /// the first socket of a host requests timestamps are not.
    pub at_ns: Option<u64>,
}

/// A UDP socket with timestamps.
#[derive(Debug)]
pub struct Stamped {
    socket: UdpSocket,
    support: Support,
    ids: Ids,
    control: Vec<[u64; CONTROL_WORDS]>,
}

impl Stamped {
    /// Enables timestamps as far as supported. All datagrams must be sent through this from now on,
    /// otherwise timestamps are attributed to the wrong ones.
    pub fn new(socket: UdpSocket) -> Self {
        let on = |flags| set_flags(&socket, flags).is_ok();
        let support = if on(RECEIVE | TRANSMIT) {
            Support {
                receive: true,
                transmit: true,
            }
        } else {
            Support {
                receive: on(RECEIVE),
                transmit: false,
            }
        };
        Self {
            socket,
            support,
            ids: Ids::default(),
            control: vec![[0; CONTROL_WORDS]; BATCH],
        }
    }

    /// Supported timestamps.
    pub fn support(&self) -> Support {
        self.support
    }

    /// The socket, for [`receive`] and its options.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Sends on a connected socket and returns the datagram's number: 0, 1, 2 and so on.
    ///
    /// # Errors
    /// As [`UdpSocket::send`]; such a datagram has no number. If a send fails while an earlier
    /// datagram is still queued on this host, the latter's [`Stage::Sent`] may be attributed to
    /// another.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let sent = self.socket.send(bytes);
        self.number(sent)
    }

    /// Sends to an address, as [`Stamped::send`].
    ///
    /// # Errors
    /// As [`UdpSocket::send_to`].
    pub fn send_to(&mut self, bytes: &[u8], to: SocketAddr) -> io::Result<u64> {
        let sent = self.socket.send_to(bytes, to);
        self.number(sent)
    }

    /// Kernels differ in whether a failed send uses a number, so counting restarts after one.
    fn number(&mut self, sent: io::Result<usize>) -> io::Result<u64> {
        if let Err(error) = sent {
            if self.support.transmit {
                let again = set_flags(&self.socket, RECEIVE)
                    .and_then(|()| set_flags(&self.socket, RECEIVE | TRANSMIT));
                self.support.transmit = again.is_ok();
                self.ids.restart(clock::realtime_ns());
            }
            return Err(error);
        }
        Ok(self.ids.next())
    }

    /// Appends the available timestamps of sent datagrams without waiting, and returns their
    /// number. A datagram has at most one per [`Stage`], in any order.
    ///
    /// # Errors
    /// The socket is broken.
    pub fn transmitted(&mut self, out: &mut Vec<Transmitted>) -> io::Result<usize> {
        if !self.support.transmit {
            // QEMU's user mode, which does not support timestamps, would return endless messages.
            return Ok(0);
        }
        let before = out.len();
        loop {
            let lengths = match error_queue(&self.socket, &mut self.control) {
                Ok(lengths) => lengths,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(out.len() - before),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            for (control, len) in self.control.iter().zip(&lengths) {
                let stamp = control::transmitted(&as_bytes(control)[..*len]);
                out.extend(stamp.and_then(|s| {
                    Some(Transmitted {
                        id: self.ids.of(s.key, s.at_ns)?,
                        stage: s.stage,
                        at_ns: s.at_ns,
                    })
                }));
            }
        }
    }
}

/// Receives one datagram with its timestamp, with the socket's timeout. Also for a socket with
/// `SO_TIMESTAMPNS`, as [`crate::socket::udp`] makes them.
///
/// # Errors
/// As [`UdpSocket::recv_from`].
pub fn receive(socket: &UdpSocket, buf: &mut [u8]) -> io::Result<Received> {
    let mut control = [0u64; CONTROL_WORDS];
    let mut name = [0u64; 16];
    let mut vector = libc::iovec {
        iov_base: buf.as_mut_ptr().cast(),
        iov_len: buf.len(),
    };
    // SAFETY: an all-zero msghdr is a valid value of this plain C struct.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut vector;
    header.msg_iovlen = 1;
    header.msg_name = name.as_mut_ptr().cast();
    header.msg_namelen = size_of_val(&name) as _;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the header points to buffers that outlive the call, are not aliased and have the
    // lengths it has.
    let n = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, 0) };
    let len = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
    let used = control_len(&header);
    Ok(Received {
        len,
        from: address(as_bytes(&name)),
        at_ns: control::received(&as_bytes(&control)[..used]),
    })
}

/// Reads the error queue, and returns the lengths of the control messages.
fn error_queue(socket: &UdpSocket, control: &mut [[u64; CONTROL_WORDS]]) -> io::Result<Vec<usize>> {
    let mut headers: Vec<libc::mmsghdr> = control
        .iter_mut()
        .map(|control| {
            // SAFETY: an all-zero mmsghdr is a valid value of this plain C struct.
            let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
            header.msg_hdr.msg_control = control.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of_val(control) as _;
            header
        })
        .collect();
    // SAFETY: every header points to a control buffer that outlives the call and is not aliased,
    // and requests no payload and no address.
    let n = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            headers.len() as libc::c_uint,
            (libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) as _,
            std::ptr::null_mut(),
        )
    };
    let n = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
    Ok(headers[..n]
        .iter()
        .map(|h| control_len(&h.msg_hdr))
        .collect())
}

/// Bytes of control messages that the kernel wrote.
#[allow(
    clippy::unnecessary_cast,
    reason = "the length is 32 bits wide with musl"
)]
fn control_len(header: &libc::msghdr) -> usize {
    (header.msg_controllen as usize).min(CONTROL_WORDS * size_of::<u64>())
}

fn as_bytes(words: &[u64]) -> &[u8] {
    // SAFETY: the bytes of words are initialised, and live and are borrowed as long as the words
    // are.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// `struct sockaddr_in` or `sockaddr_in6`.
fn address(name: &[u8]) -> Option<SocketAddr> {
    let port = bytes::array(name, 2).map(u16::from_be_bytes)?;
    match libc::c_int::from(bytes::u16_at(name, 0)?) {
        libc::AF_INET => Some((bytes::array::<4>(name, 4)?, port).into()),
        libc::AF_INET6 => Some((bytes::array::<16>(name, 8)?, port).into()),
        _ => None,
    }
}

fn set_flags(socket: &UdpSocket, flags: u32) -> io::Result<()> {
    let stamping = |option| set_option(socket, libc::SOL_SOCKET, option, flags);
    let refused = match stamping(SO_TIMESTAMPING_NEW) {
        Err(e) if e.raw_os_error() == Some(libc::ENOPROTOOPT) => e,
        result => return result,
    };
    if cfg!(target_pointer_width = "64") {
        stamping(SO_TIMESTAMPING_OLD)
    } else {
        Err(refused)
    }
}

fn set_option(
    socket: &UdpSocket,
    level: libc::c_int,
    option: libc::c_int,
    value: u32,
) -> io::Result<()> {
    // SAFETY: the option takes an int of four bytes and only reads it.
    let rc = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            4,
        )
    };
    if rc == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests;
