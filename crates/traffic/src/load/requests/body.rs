//! Response bodies: size, rate, and limits for slow readers.

use std::{
    io::{self, Write},
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use sys::clock::Instant;

use super::exchange;
use crate::{ZEROES, load::Stop};

/// Bytes of a request that are charged at once.
const PIECE: u64 = 1 << 20;

/// Slowest peer that is waited for, bytes a second.
const SLOWEST: u64 = 1000;

/// Source of the responses of all connections of a service.
pub(super) struct ResponseBody {
    /// Bytes of a request after its greeting.
    pub(super) upload: u64,
    /// Bytes of a response.
    pub(super) bytes: u64,
    /// Timeout of a peer for its request, and for each read of its response.
    pub(super) timeout: Duration,
    pub(super) stop: Stop,
    given: AtomicU64,
}

impl ResponseBody {
    /// `upload`: bytes of a request after its greeting; `bytes`: of its response.
    pub(super) fn new(upload: u64, bytes: u64, timeout: Duration, stop: Stop) -> Self {
        Self {
            upload,
            bytes,
            timeout,
            stop,
            given: AtomicU64::new(0),
        }
    }

    /// Bytes of responses so far.
    pub(super) fn given(&self) -> u64 {
        self.given.load(Ordering::Relaxed)
    }

    /// Records that this many bytes of requests have arrived.
    ///
    /// # Errors
    /// They exceed the permitted bytes.
    pub(super) fn received(&self, bytes: usize) -> io::Result<()> {
        self.stop.pause(self.stop.lease().received(bytes as u64)?);
        Ok(())
    }

    /// Reads the part of a request after its greeting.
    ///
    /// # Errors
    /// It does not arrive in time, or exceeds the permitted bytes.
    pub(super) fn take(&self, stream: &TcpStream) -> io::Result<()> {
        let mut left = self.upload;
        while left > 0 {
            let n = left.min(PIECE);
            exchange::discard(stream, n)?;
            self.stop.pause(self.stop.lease().received(n)?);
            left -= n;
        }
        Ok(())
    }

    /// Sends `head` and then a response of zeroes, in full segments if possible. A peer that reads
    /// nothing for the socket's timeout, or very slowly, is abandoned.
    pub(super) fn give(&self, stream: &TcpStream, head: &[u8]) -> io::Result<()> {
        self.enough()?;
        let mut left = self.bytes;
        let mut waited = Duration::ZERO;
        let slowest = Duration::from_secs(self.bytes / SLOWEST);
        let start = Instant::now();
        let mut head = head;
        while left > 0 || !head.is_empty() {
            let n = left.min(ZEROES.len() as u64) as usize;
            let taken = if n > 0 { self.stop.lease().take(n)? } else { 0 };
            // In one call, so that a small response is one segment.
            let block;
            let bytes = if head.is_empty() {
                &ZEROES[..taken]
            } else {
                block = [head, &ZEROES[..taken]].concat();
                &block
            };
            write(stream, bytes, start.after(self.timeout + slowest + waited))?;
            head = &[];
            left -= taken as u64;
            self.given.fetch_add(taken as u64, Ordering::Relaxed);
            if let Some(until) = self.stop.lease().sent(taken, taken) {
                let before = Instant::now();
                self.stop.pause(Some(until));
                let ns = Instant::now().since(before).max(0) as u64;
                waited += Duration::from_nanos(ns);
            }
            if self.stop.is_set() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        Ok(())
    }

    /// A response that cannot be completed is not started.
    fn enough(&self) -> io::Result<()> {
        match self.stop.lease().bytes_left() {
            Some(left) if left < self.bytes => Err(crate::admission::Spent.into()),
            _ => Ok(()),
        }
    }
}

/// Same as `write_all`, with a deadline.
fn write(mut stream: &TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => bytes = &bytes[n..],
        }
        if Instant::now() > deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}
