//! A TCP connection of a load.

use std::{
    io::{self, Read},
    net::{Shutdown, TcpStream},
    os::fd::AsFd,
    sync::{OnceLock, atomic::AtomicU64},
};

use sys::{socket, tcp_info};

/// A connection, and the bytes this end has moved on it.
#[derive(Debug, Default)]
pub(super) struct Connection {
    stream: OnceLock<TcpStream>,
    /// Payload bytes that this end has given to its kernel, or taken from it.
    pub(super) bytes: AtomicU64,
}

impl Connection {
    /// An established connection.
    pub(super) fn established(stream: TcpStream) -> Self {
        Self {
            stream: OnceLock::from(stream),
            bytes: AtomicU64::new(0),
        }
    }

    /// The socket, if the connection is established.
    pub(super) fn stream(&self) -> Option<&TcpStream> {
        self.stream.get()
    }

    /// Returns the socket, opened by `open` if it is not established yet.
    pub(super) fn establish(
        &self,
        open: impl FnOnce() -> io::Result<TcpStream>,
    ) -> io::Result<&TcpStream> {
        if let Some(stream) = self.stream.get() {
            return Ok(stream);
        }
        let stream = open()?;
        Ok(self.stream.get_or_init(|| stream))
    }

    /// Reads `TCP_INFO` as the kernel's bytes into `buffer`; returns their number, 0 if the kernel
    /// has none.
    pub(super) fn raw_info(&self, buffer: &mut [u8]) -> usize {
        let stream = self.stream.get();
        stream.map_or(0, |s| tcp_info::raw(s.as_fd(), buffer).unwrap_or(0))
    }

    /// Ends it and calls blocked on it; queued data is still sent after closing.
    pub(super) fn shut(&self) {
        if let Some(stream) = self.stream.get() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Ends it and calls blocked on it; queued data is discarded on closing. A sender that waits
    /// for space in the receive queue must learn of the end before: it does so only when it sends
    /// new data (tcp_rcv_state_process, net/ipv4/tcp_input.c, Linux 7.2: data after the end of
    /// reading is answered by a reset), so that queue is emptied.
    pub(super) fn abort(&self) {
        if let Some(stream) = self.stream.get() {
            let _ = socket::set_abort(stream);
            let _ = stream.shutdown(Shutdown::Both);
            empty(stream);
        }
    }
}

/// Reads data that has arrived on a connection shut down for reading, which never blocks.
fn empty(mut stream: &TcpStream) {
    /// Calls of the most that a receive queue holds: 1 GB.
    const MAX: usize = 1 << 14;
    let mut bytes = vec![0; 1 << 16];
    for _ in 0..MAX {
        if !matches!(stream.read(&mut bytes), Ok(1..)) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::{io::Write, net::TcpListener};

    use super::*;

    /// With its receiver's window closed, it probed for a quarter of an hour.
    #[test]
    fn a_sender_waiting_for_space_is_notified_of_its_receivers_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (receiver, _) = listener.accept().unwrap();
        sender.set_nonblocking(true).unwrap();
        let block = vec![0; 1 << 16];
        while sender.write(&block).is_ok() {}
        sender.set_nonblocking(false).unwrap();
        let connection = Connection::established(receiver);
        connection.abort();
        while sender.write(&block).is_ok() {}
        assert!(connection.stream().is_some(), "it is still open");
    }
}
