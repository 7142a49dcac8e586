//! A TCP connection of a load.

use std::{net::TcpStream, sync::atomic::AtomicU64};

/// A connection, and what this end has moved on it.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    /// Payload bytes that this end has given to its kernel, or taken from it.
    pub(super) bytes: AtomicU64,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            bytes: AtomicU64::new(0),
        }
    }
}
