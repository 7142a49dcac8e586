//! Helpers of socket calls.

use std::{io, net::SocketAddr, os::fd::RawFd};

use rustix::net::AddressFamily;

pub(super) fn family(address: SocketAddr) -> AddressFamily {
    if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    }
}

pub(super) fn set_u32(
    fd: RawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: u32,
) -> io::Result<()> {
    // SAFETY: the option takes an int of four bytes and only reads it.
    let rc = unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), 4) };
    if rc == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
