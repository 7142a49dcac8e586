//! Batches of datagrams with kernel receive timestamps.

use std::{io, net::UdpSocket, os::fd::AsRawFd};

use crate::clock;

/// Buffers for the datagrams of one call.
pub struct Batch {
    payload: usize,
    bytes: Vec<u8>,
    control: Vec<[u64; 8]>,
    lengths: Vec<(usize, u64)>,
    /// Payload sizes of the last call, before truncation.
    sizes: Vec<usize>,
    /// Total payload of the last call, before truncation.
    received: u64,
}

impl Batch {
    /// Buffers for `count` datagrams, truncated to `payload` bytes each.
    pub fn new(count: usize, payload: usize) -> Self {
        Self {
            payload,
            bytes: vec![0; count * payload],
            control: vec![[0; 8]; count],
            lengths: Vec::with_capacity(count),
            sizes: Vec::with_capacity(count),
            received: 0,
        }
    }

    /// Blocks until all buffers are used, or the socket's read timeout has passed with at least one
    /// datagram; an error if there are none. The thread remains in the kernel in the meantime.
    ///
    /// # Errors
    /// No datagram arrived before the timeout, or the socket failed.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.receive_with(socket, 0)
    }

    /// Like [`receive`](Self::receive), but blocks only for the first datagram and then takes the
    /// available ones.
    ///
    /// # Errors
    /// No datagram arrived before the timeout, or the socket failed.
    pub fn receive_ready(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.receive_with(socket, libc::MSG_WAITFORONE)
    }

    fn receive_with(&mut self, socket: &UdpSocket, flags: libc::c_int) -> io::Result<usize> {
        let count = self.control.len();
        let mut vectors: Vec<libc::iovec> = self
            .bytes
            .chunks_mut(self.payload)
            .map(|c| libc::iovec {
                iov_base: c.as_mut_ptr().cast(),
                iov_len: c.len(),
            })
            .collect();
        let mut headers: Vec<libc::mmsghdr> = Vec::with_capacity(count);
        for (vector, control) in vectors.iter_mut().zip(&mut self.control) {
            // SAFETY: an all-zero mmsghdr is a valid value of this plain C struct.
            let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_control = control.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of_val(control) as _;
            headers.push(header);
        }
        // SAFETY: every header points to buffers that outlive the call and are not aliased.
        let n = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                count as libc::c_uint,
                // With MSG_TRUNC, msg_len is the size before truncation (net/ipv4/udp.c,
                // udp_recvmsg).
                (flags | libc::MSG_TRUNC) as _,
                std::ptr::null_mut(),
            )
        };
        let n = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
        self.lengths.clear();
        self.received = 0;
        self.sizes.clear();
        for header in &headers[..n] {
            self.received += u64::from(header.msg_len);
            self.sizes.push(header.msg_len as usize);
            let length = (header.msg_len as usize).min(self.payload);
            let time = receive_time(&header.msg_hdr).unwrap_or_else(clock::realtime_ns);
            self.lengths.push((length, time));
        }
        Ok(n)
    }

    /// Total payload of the last call's datagrams, before truncation.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Payload sizes of each datagram, before truncation.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.sizes.iter().copied()
    }

    /// The datagrams of the last call with their kernel receive timestamps or, without those, the
    /// time after the call (CLOCK_REALTIME nanoseconds).
    pub fn datagrams(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.lengths
            .iter()
            .zip(self.bytes.chunks(self.payload))
            .map(|(&(length, time), bytes)| (&bytes[..length], time))
    }
}

fn receive_time(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel has filled msg_control up to msg_controllen with whole control messages,
    // and the CMSG macros walk only within it.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(header);
        while !at.is_null() {
            if (*at).cmsg_level == libc::SOL_SOCKET && (*at).cmsg_type == libc::SCM_TIMESTAMPNS {
                let time: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(at).cast());
                return Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
            }
            at = libc::CMSG_NXTHDR(header, at);
        }
    }
    None
}

/// Sends `datagrams` on a connected socket in one call; returns the number sent.
///
/// # Errors
/// The kernel took none of them: its queue is full, or an ICMP error of an earlier one is pending.
pub fn send_batch(socket: &UdpSocket, datagrams: &[impl AsRef<[u8]>]) -> io::Result<usize> {
    let mut vectors: Vec<libc::iovec> = datagrams
        .iter()
        .map(AsRef::as_ref)
        .map(|d| libc::iovec {
            iov_base: d.as_ptr().cast_mut().cast(),
            iov_len: d.len(),
        })
        .collect();
    let mut headers: Vec<libc::mmsghdr> = vectors
        .iter_mut()
        .map(|vector| {
            // SAFETY: an all-zero mmsghdr is a valid value of this plain C struct.
            let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
            header
        })
        .collect();
    // SAFETY: the headers point to datagrams that outlive the call; sending only reads them.
    let n = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            headers.len() as libc::c_uint,
            0,
        )
    };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}
