//! Polling of sockets.

use std::{io, os::fd::BorrowedFd, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

/// Waits until one of `fds` can be read (data, a connection, the peer's end or an error) or `limit`
/// has passed. Returns for each, in order, whether it is readable; a signal ends the wait early,
/// with none readable.
///
/// # Errors
/// An invalid descriptor: `poll(2)`.
pub fn readable(fds: &[BorrowedFd<'_>], limit: Duration) -> io::Result<Vec<bool>> {
    let mut polled: Vec<PollFd<'_>> = fds
        .iter()
        .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
        .collect();
    let limit = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&limit)) {
        Ok(_) => Ok(polled.iter().map(|p| !p.revents().is_empty()).collect()),
        Err(Errno::INTR) => Ok(vec![false; fds.len()]),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        net::{Ipv4Addr, UdpSocket},
        os::fd::AsFd,
    };

    #[test]
    fn tells_which_socket_has_something() {
        let sockets = [0, 1].map(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let fds = [sockets[0].as_fd(), sockets[1].as_fd()];
        assert_eq!(readable(&fds, Duration::ZERO).unwrap(), [false, false]);
        let to = sockets[1].local_addr().unwrap();
        sockets[0].send_to(b"x", to).unwrap();
        assert_eq!(
            readable(&fds, Duration::from_secs(5)).unwrap(),
            [false, true]
        );
    }
}
