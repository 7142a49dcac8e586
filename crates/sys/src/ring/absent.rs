//! [`TimedSender`] of processors for which there is no binding of io_uring.

use std::{io, net::UdpSocket, time::Duration};

use crate::clock::Instant;

/// Cannot be made.
#[derive(Debug)]
pub enum TimedSender {}

impl TimedSender {
    /// Prepares nothing.
    ///
    /// # Errors
    /// Always.
    pub fn new(_: &UdpSocket, _: usize, _: Instant, _: Duration) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sets the time of the next datagram.
    ///
    /// # Errors
    /// Never, as there is no such sender.
    pub fn restart(&mut self, _: Instant, _: Duration) -> io::Result<()> {
        match *self {}
    }

    /// Sends datagrams.
    ///
    /// # Errors
    /// Never, as there is no such sender.
    pub fn send(&mut self, _: &[impl AsRef<[u8]>]) -> io::Result<usize> {
        match *self {}
    }
}
