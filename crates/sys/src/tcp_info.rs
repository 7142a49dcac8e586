//! Kernel state of TCP connections: `TCP_INFO`, and `TCP_CC_INFO` of bbr.
//!
//! The structure is read as bytes with the length returned by the kernel, since it grows with
//! kernel versions and C libraries define different parts of it.

mod entries;
mod fields;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::bytes;

pub use entries::{FIELDS, entries};
use fields::CLASSIC_LEN;
pub use fields::{TCP_INFO_LEN, TcpInfo};

/// Option names at level `IPPROTO_TCP` (include/uapi/linux/tcp.h, Linux 7.2).
const TCP_INFO: libc::c_int = 11;
const TCP_CC_INFO: libc::c_int = 26;
/// Size of `union tcp_cc_info` (include/uapi/linux/inet_diag.h).
const CC_INFO_LEN: usize = 20;
/// The value 1 in the scale of bbr's gains (`BBR_UNIT`, net/ipv4/tcp_bbr.c).
const BBR_UNIT: f64 = 256.0;

/// Reads `TCP_INFO` as bytes into `buf` and returns their number. A buffer of [`TCP_INFO_LEN`]
/// holds all of Linux 7.2; nothing is allocated.
///
/// # Errors
/// Not a TCP socket; `InvalidData` if less than the classic part was returned, as by some
/// emulations.
pub fn raw(fd: BorrowedFd<'_>, buf: &mut [u8]) -> io::Result<usize> {
    let len = tcp_option(fd, TCP_INFO, buf)?;
    if len < CLASSIC_LEN {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(len)
}

/// Reads `TCP_INFO`.
///
/// # Errors
/// Not a TCP socket; `InvalidData` if the kernel returned too little.
pub fn read(fd: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let mut buf = [0; TCP_INFO_LEN];
    let len = raw(fd, &mut buf)?;
    TcpInfo::parse(&buf[..len]).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// State of bbr (`struct tcp_bbr_info`, include/uapi/linux/inet_diag.h, Linux 7.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrInfo {
    /// Estimate of the bandwidth, bytes a second.
    pub bw_bytes_s: u64,
    /// Estimate of the round-trip time without queue, us; absent before the first sample.
    pub min_rtt_us: Option<u32>,
    /// Factor on the bandwidth at which it paces; 0.75 and 1.25 while it probes.
    pub pacing_gain: f64,
    /// Factor on the bandwidth-delay product for the congestion window.
    pub cwnd_gain: f64,
}

impl BbrInfo {
    /// Parses the result of `TCP_CC_INFO` for bbr; `None` if it is too short.
    pub fn parse(bytes: &[u8]) -> Option<BbrInfo> {
        let word = |i: usize| bytes::u32_at(bytes, i * 4);
        Some(BbrInfo {
            bw_bytes_s: u64::from(word(1)?) << 32 | u64::from(word(0)?),
            min_rtt_us: Some(word(2)?).filter(|&us| us != u32::MAX),
            pacing_gain: f64::from(word(3)?) / BBR_UNIT,
            cwnd_gain: f64::from(word(4)?) / BBR_UNIT,
        })
    }
}

/// Reads the state of bbr. Valid only with bbr in use: other algorithms with this information, such
/// as dctcp, use another format.
///
/// # Errors
/// Not a TCP socket. `Ok(None)` if the algorithm provides no information.
pub fn bbr(fd: BorrowedFd<'_>) -> io::Result<Option<BbrInfo>> {
    let mut buf = [0; CC_INFO_LEN];
    let len = tcp_option(fd, TCP_CC_INFO, &mut buf)?;
    Ok(BbrInfo::parse(&buf[..len]))
}

fn tcp_option(fd: BorrowedFd<'_>, option: libc::c_int, buf: &mut [u8]) -> io::Result<usize> {
    let mut len = libc::socklen_t::try_from(buf.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the pointer and length describe `buf`, which the kernel fills with at most `len`
    // bytes; both outlive the call, and any bytes are valid for it.
    let rc = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_TCP,
            option,
            buf.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    if rc != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::try_from(len).unwrap_or(0).min(buf.len()))
}

#[cfg(test)]
mod tests;
