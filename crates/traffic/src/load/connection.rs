//! A TCP connection of a load.

use std::{
    io,
    net::{Shutdown, TcpStream},
    os::fd::AsFd,
    sync::{OnceLock, atomic::AtomicU64},
};

use sys::{socket, tcp_info};

/// A connection, and what this end has moved on it.
#[derive(Debug, Default)]
pub(super) struct Connection {
    stream: OnceLock<TcpStream>,
    /// Payload bytes that this end has given to its kernel, or taken from it.
    pub(super) bytes: AtomicU64,
}

impl Connection {
    /// One that is established.
    pub(super) fn established(stream: TcpStream) -> Self {
        Self {
            stream: OnceLock::from(stream),
            bytes: AtomicU64::new(0),
        }
    }

    /// The socket, once there is one.
    pub(super) fn stream(&self) -> Option<&TcpStream> {
        self.stream.get()
    }

    /// The socket; `open` makes it if there is none yet.
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

    /// Reads `TCP_INFO` as the kernel's bytes into `buffer`; gives their number, 0 if
    /// the kernel has none.
    pub(super) fn raw_info(&self, buffer: &mut [u8]) -> usize {
        let stream = self.stream.get();
        stream.map_or(0, |s| tcp_info::raw(s.as_fd(), buffer).unwrap_or(0))
    }

    /// Ends it and what is blocked on it; when it is closed, what is still queued is sent.
    pub(super) fn shut(&self) {
        if let Some(stream) = self.stream.get() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Ends it and what is blocked on it; when it is closed, what is still queued is thrown away.
    pub(super) fn abort(&self) {
        if let Some(stream) = self.stream.get() {
            let _ = socket::set_abort(stream);
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
