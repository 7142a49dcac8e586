//! A request from the client's view, and its connection.

use std::{
    io::{self, Write},
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sys::{clock::Instant, socket};

use crate::ZEROES;

/// Request of a client.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Time of the first request; at once if it has passed.
    pub start: Instant,
    /// Bytes of a request that are sent after its greeting; only of requests on separate
    /// connections.
    pub upload: u64,
    /// Bytes of an answer.
    pub bytes: u64,
    /// Timeout of each read of a response.
    pub timeout: Duration,
    /// Maximum total bytes of responses, if limited.
    pub most_bytes: Option<u64>,
    /// Maximum number of requests.
    pub most_requests: usize,
    /// Pauses between them; absent = none.
    pub batch: Option<Batch>,
}

/// Requests that come in batches.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Requests of a batch.
    pub requests: usize,
    /// Time from the start of a batch to that of the next; at once if that has passed.
    pub every: Duration,
}

/// Longest time in which a client that waits does not notice that it was stopped.
const SLICE: Duration = Duration::from_millis(10);

impl Config {
    /// Time of the request of this number, if it is the first of a batch that is not the first.
    fn due(&self, number: usize) -> Option<Instant> {
        let batch = self.batch?;
        let round = number.checked_div(batch.requests)?;
        let first = round > 0 && number.is_multiple_of(batch.requests);
        let rounds = u32::try_from(round).unwrap_or(u32::MAX);
        first.then(|| self.start.after(batch.every.saturating_mul(rounds)))
    }

    /// Waits for the time of the request of this number, or until `stopped`.
    pub(super) fn wait_for(&self, number: usize, stopped: &AtomicBool) {
        let Some(due) = self.due(number) else { return };
        loop {
            let now = Instant::now();
            if now >= due || stopped.load(Ordering::Relaxed) {
                return;
            }
            now.after(SLICE).min(due).wait();
        }
    }
}

/// A request that was answered. Times are from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Start time.
    pub began: Instant,
    /// Time at which the connection was established, ns; absent if it was established before.
    pub connect_ns: Option<u64>,
    /// Time to the first byte of the response, ns.
    pub first_byte_ns: u64,
    /// Time to its last byte, ns.
    pub complete_ns: u64,
    /// Bytes of the response.
    pub bytes: u64,
}

/// The open connection, for the thread that ends it.
#[derive(Default)]
pub(super) struct Open {
    cut: AtomicBool,
    stream: Mutex<Option<Arc<TcpStream>>>,
}

impl Open {
    /// Remembers it in place of the one before.
    pub(super) fn set(&self, stream: TcpStream) -> Arc<TcpStream> {
        let stream = Arc::new(stream);
        *self.lock() = Some(stream.clone());
        if self.is_cut() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        stream
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst)
    }

    pub(super) fn end(&self) {
        self.cut.store(true, Ordering::SeqCst);
        if let Some(stream) = &*self.lock() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<TcpStream>>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes this many zeroes.
pub(super) fn fill(mut stream: &TcpStream, bytes: u64) -> io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        let n = left.min(ZEROES.len() as u64);
        stream.write_all(&ZEROES[..n as usize])?;
        left -= n;
    }
    Ok(())
}

/// Reads and throws away `bytes`.
pub(super) fn discard(stream: &TcpStream, bytes: u64) -> io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        match socket::discard(stream, usize::try_from(left).unwrap_or(usize::MAX))? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => left -= n as u64,
        }
    }
    Ok(())
}
