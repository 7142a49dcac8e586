//! Netlink sockets with synchronous requests.

use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send,
    socket_with,
};

use super::error::NetlinkError;
use super::message::{Message, NLM_F_ACK, NLM_F_DUMP};
use super::reply::{NLM_F_DUMP_INTR, NLMSG_DONE, NLMSG_ERROR, Replies, Reply};

/// Level of netlink socket options (`SOL_NETLINK`, include/linux/socket.h, Linux 7.2).
const SOL_NETLINK: libc::c_int = 270;
/// The acknowledgement leaves out the request's body (`NETLINK_CAP_ACK`,
/// include/uapi/linux/netlink.h, Linux 7.2).
const NETLINK_CAP_ACK: libc::c_int = 10;
/// The acknowledgement carries the kernel's text (`NETLINK_EXT_ACK`).
const NETLINK_EXT_ACK: libc::c_int = 11;
/// The kernel fills a dump's datagrams up to 32 KiB (net/netlink/af_netlink.c: `netlink_recvmsg`).
const RECEIVE_BYTES: usize = 64 * 1024;
/// Maximum attempts at an interrupted dump.
const DUMP_ATTEMPTS: usize = 8;

/// A blocking netlink socket with its buffer.
#[derive(Debug)]
pub struct Netlink {
    fd: Arc<OwnedFd>,
    seq: u32,
    buf: Vec<u8>,
    /// Where it goes when nothing uses it any more.
    keeper: Option<Arc<Spare>>,
}

/// Route netlink sockets of one namespace that nothing uses at the moment, each with its buffer and
/// its number of requests, so that late replies to earlier ones are recognised.
#[derive(Debug, Default)]
pub(crate) struct Spare(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    fd: Arc<OwnedFd>,
    seq: u32,
    buf: Vec<u8>,
}

impl Spare {
    /// One of them.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Netlink> {
        let Kept { fd, seq, buf } = self.kept().pop()?;
        let keeper = Some(self.clone());
        Some(Netlink {
            fd,
            seq,
            buf,
            keeper,
        })
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Netlink {
    fn drop(&mut self) {
        if let Some(keeper) = &self.keeper {
            keeper.kept().push(Kept {
                fd: self.fd.clone(),
                seq: self.seq,
                buf: std::mem::take(&mut self.buf),
            });
        }
    }
}

impl Netlink {
    /// Opens a socket for links, addresses, routes and traffic control in the calling thread's
    /// network namespace.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn route() -> Result<Self, NetlinkError> {
        Self::open(None, "open a route netlink socket")
    }

    /// Opens a socket for generic netlink families in the calling thread's network namespace.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn generic() -> Result<Self, NetlinkError> {
        Self::open(Some(netlink::GENERIC), "open a generic netlink socket")
    }

    /// No protocol is `NETLINK_ROUTE`, which is 0.
    pub(crate) fn open(protocol: Option<Protocol>, op: &str) -> Result<Self, NetlinkError> {
        let fd = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            protocol,
        )
        .map_err(|e| NetlinkError::new(op, e.raw_os_error()))?;
        // Not available before 4.12; errors then have no text.
        let _ = set_option(fd.as_fd(), NETLINK_CAP_ACK);
        let _ = set_option(fd.as_fd(), NETLINK_EXT_ACK);
        Ok(Netlink {
            fd: Arc::new(fd),
            seq: 0,
            buf: vec![0; RECEIVE_BYTES],
            keeper: None,
        })
    }

    /// The same socket, which goes to `keeper` when nothing uses it any more.
    pub(crate) fn kept_by(mut self, keeper: &Arc<Spare>) -> Self {
        self.keeper = Some(keeper.clone());
        self
    }

    /// Sends a request and waits for its acknowledgement. `op` describes the operation and its
    /// object in errors.
    ///
    /// # Errors
    /// The kernel rejected the request, with its message; or the socket failed.
    pub fn request(&mut self, message: &mut Message, op: impl Display) -> Result<(), NetlinkError> {
        message.add_flags(NLM_F_ACK);
        self.exchange(message, &op, &mut |_| {}).map(|_| ())
    }

    /// Sends requests as a transaction, between a begin and an end message in one datagram, and
    /// waits until each is acknowledged.
    ///
    /// # Errors
    /// As [`Netlink::request`], for the first rejected request.
    pub(crate) fn batch(
        &mut self,
        begin: &mut Message,
        requests: &mut [Message],
        end: &mut Message,
        op: impl Display,
    ) -> Result<(), NetlinkError> {
        let first = self.seq.wrapping_add(1);
        let mut bytes = Vec::new();
        let mut left = requests.len();
        requests.iter_mut().for_each(|m| m.add_flags(NLM_F_ACK));
        for message in std::iter::once(begin).chain(requests).chain([end]) {
            self.seq = self.seq.wrapping_add(1);
            let message = message.finish(self.seq);
            bytes.extend(message.ok_or_else(|| NetlinkError::new(&op, libc::EMSGSIZE))?);
        }
        send_all(self.fd.as_fd(), &bytes).map_err(|e| NetlinkError::from_io(&op, &e))?;
        let ours = |seq: u32| seq.wrapping_sub(first) <= self.seq.wrapping_sub(first);
        while left > 0 {
            let len = receive(self.fd.as_fd(), &mut self.buf, RecvFlags::empty())
                .map_err(|e| NetlinkError::from_io(&op, &e))?;
            for reply in Replies::new(&self.buf[..len]).filter(|r| ours(r.seq)) {
                if reply.is_error() {
                    finish(&reply, &op, true)?;
                    left -= 1;
                }
            }
        }
        Ok(())
    }

    /// Sends a request for one object and calls `each` with each reply's payload; waits for the
    /// acknowledgement.
    ///
    /// # Errors
    /// As [`Netlink::request`].
    pub fn get(
        &mut self,
        message: &mut Message,
        op: impl Display,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), NetlinkError> {
        message.add_flags(NLM_F_ACK);
        self.exchange(message, &op, &mut |r| each(r.payload))
            .map(|_| ())
    }

    /// Sends a dump request and returns the results of `each` for every reply's payload, without
    /// `None`. An interrupted dump is repeated.
    ///
    /// # Errors
    /// As [`Netlink::request`]; `EINTR` if all attempts were interrupted.
    pub fn dump<T>(
        &mut self,
        message: &mut Message,
        op: impl Display,
        mut each: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Vec<T>, NetlinkError> {
        message.add_flags(NLM_F_DUMP);
        for _ in 0..DUMP_ATTEMPTS {
            let mut found = Vec::new();
            let steady = self.exchange(message, &op, &mut |r| found.extend(each(r.payload)))?;
            if steady {
                return Ok(found);
            }
        }
        Err(NetlinkError::new(op, libc::EINTR))
    }

    /// Sends a request for one object without requesting an acknowledgement, and reads one
    /// datagram: two system calls. The kernel replies within `sendto`, so a missing reply
    /// (`EAGAIN`) never arrives.
    ///
    /// # Errors
    /// As [`Netlink::request`].
    pub(crate) fn request_once<T>(
        &mut self,
        message: &mut Message,
        op: impl Display,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, NetlinkError> {
        self.send(message, &op)?;
        loop {
            let len = receive(self.fd.as_fd(), &mut self.buf, RecvFlags::DONTWAIT)
                .map_err(|e| NetlinkError::from_io(&op, &e))?;
            let Some(reply) = Replies::new(&self.buf[..len]).find(|r| r.seq == self.seq) else {
                continue;
            };
            if reply.is_error() {
                finish(&reply, &op, true)?;
            }
            return Ok(read(reply.payload));
        }
    }

    fn send(&mut self, message: &mut Message, op: &dyn Display) -> Result<(), NetlinkError> {
        self.seq = self.seq.wrapping_add(1);
        let bytes = message
            .finish(self.seq)
            .ok_or_else(|| NetlinkError::new(op, libc::EMSGSIZE))?;
        send_all(self.fd.as_fd(), bytes).map_err(|e| NetlinkError::from_io(op, &e))
    }

    /// Sends, then reads until the acknowledgement or the end of the dump. `Ok(false)`: the dump
    /// was interrupted.
    fn exchange(
        &mut self,
        message: &mut Message,
        op: &dyn Display,
        each: &mut dyn FnMut(&Reply<'_>),
    ) -> Result<bool, NetlinkError> {
        self.send(message, op)?;
        let mut steady = true;
        loop {
            let len = receive(self.fd.as_fd(), &mut self.buf, RecvFlags::empty())
                .map_err(|e| NetlinkError::from_io(op, &e))?;
            for reply in Replies::new(&self.buf[..len]).filter(|r| r.seq == self.seq) {
                steady &= reply.flags & NLM_F_DUMP_INTR == 0;
                match reply.kind {
                    NLMSG_ERROR | NLMSG_DONE => return finish(&reply, op, steady),
                    _ => each(&reply),
                }
            }
        }
    }
}

impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn finish(reply: &Reply<'_>, op: &dyn Display, steady: bool) -> Result<bool, NetlinkError> {
    match reply.errno() {
        0 => Ok(steady),
        errno => Err(NetlinkError {
            op: op.to_string(),
            errno,
            kernel_message: reply.kernel_message(),
        }),
    }
}

/// Sends one message to the kernel: an unconnected netlink socket's default destination.
fn send_all(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    let sent = rustix::io::retry_on_intr(|| send(fd, bytes, SendFlags::empty()))?;
    if sent == bytes.len() {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EMSGSIZE))
    }
}

/// Receives one datagram; truncation is an error.
fn receive(fd: BorrowedFd<'_>, buf: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
    let (_, len) = rustix::io::retry_on_intr(|| recv(fd, &mut *buf, flags | RecvFlags::TRUNC))?;
    if len <= buf.len() {
        Ok(len)
    } else {
        Err(io::Error::from_raw_os_error(libc::EMSGSIZE))
    }
}

fn set_option(fd: BorrowedFd<'_>, option: libc::c_int) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the pointer and length describe `on`, which outlives the call; the descriptor is
    // open.
    let rc = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            SOL_NETLINK,
            option,
            std::ptr::from_ref(&on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if rc == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
