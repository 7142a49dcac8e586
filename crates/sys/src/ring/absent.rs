//! The kinds of work of processors for which there is no binding of io_uring.

use std::{io, net::UdpSocket, time::Duration};

use super::TimedRequest;
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

/// Cannot be made.
#[derive(Debug)]
pub enum TimedReader {}

impl TimedReader {
    /// Prepares nothing.
    ///
    /// # Errors
    /// Always.
    pub fn new(_: Vec<TimedRequest>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Most times of a call.
    pub fn most(&self) -> usize {
        match *self {}
    }

    /// Makes requests.
    ///
    /// # Errors
    /// Never, as there is no such reader.
    pub fn read(&mut self, _: Instant, _: Duration, _: u64, _: usize) -> io::Result<()> {
        match *self {}
    }

    /// The payload of an answer.
    pub fn answer(&self, _: usize, _: usize) -> Option<&[u8]> {
        match *self {}
    }
}

/// Cannot be made.
#[derive(Debug)]
pub enum Reflector {}

impl Reflector {
    /// Prepares nothing.
    ///
    /// # Errors
    /// Always.
    pub fn new(_: &UdpSocket, _: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns datagrams.
    ///
    /// # Errors
    /// Never, as there is no such reflector.
    pub fn serve(&mut self) -> io::Result<()> {
        match *self {}
    }
}
