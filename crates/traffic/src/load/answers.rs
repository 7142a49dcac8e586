//! Answers to requests on connections that come in: by a bounded number of threads, each with one
//! connection at a time, and to nobody who does not take them.

use std::{
    collections::VecDeque,
    io::{self, Write},
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::{clock::Instant, socket};

use super::{budget::Budget, http, short};
use crate::spawn;

/// What is written at once.
static ZEROES: [u8; 64 << 10] = [0; 64 << 10];

/// Slowest peer that is waited for, bytes a second.
const SLOWEST: u64 = 1000;

/// How requests are put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// One a connection, which the greeting is already.
    Short,
    /// HTTP/1.1, many a connection.
    Http,
}

/// What is agreed on.
#[derive(Clone, Debug)]
pub struct Terms {
    /// How requests are put.
    pub manner: Manner,
    /// Bytes of an answer.
    pub bytes: u64,
    /// Connections at once; those beyond it are closed.
    pub most: usize,
    /// How long a peer may take to ask, and to take any part of its answer.
    pub patience: Duration,
    /// Highest rate of each connection, bit/s, if there is one.
    pub rate_bps: Option<u64>,
    /// Bytes to answer with at most.
    pub budget: Budget,
}

/// A running service.
pub struct Answers(Arc<Pool>);

struct Pool {
    terms: Terms,
    meter: Meter,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<TcpStream>,
    /// Connections that are being answered, to end them.
    active: Vec<Arc<TcpStream>>,
    threads: Vec<JoinHandle<()>>,
    /// Threads that wait for a connection.
    idle: usize,
}

/// What a service has given so far, and whether it is to end.
#[derive(Default)]
pub(super) struct Meter {
    stopped: AtomicBool,
    bytes: AtomicU64,
}

impl Answers {
    /// A service without any connection yet.
    pub fn new(terms: Terms) -> Self {
        Self(Arc::new(Pool {
            terms,
            meter: Meter::default(),
            state: Mutex::default(),
            changed: Condvar::new(),
        }))
    }

    /// Takes a connection that has greeted. Never blocks; one too many is closed.
    pub fn take(&self, stream: TcpStream) {
        let mut state = self.0.lock();
        let held = state.waiting.len() + state.active.len();
        if self.0.meter.stopped.load(Ordering::Relaxed) || held >= self.0.terms.most {
            return;
        }
        state.waiting.push_back(stream);
        if state.idle < state.waiting.len() && state.threads.len() < self.0.terms.most {
            let pool = self.0.clone();
            // Without a thread, it waits for one that is there already.
            state
                .threads
                .extend(spawn("answer", move || pool.work()).ok());
        }
        self.0.changed.notify_one();
    }

    /// Bytes of answers so far.
    pub fn bytes(&self) -> u64 {
        self.0.meter.bytes.load(Ordering::Relaxed)
    }

    /// Ends the service and all its connections.
    pub fn finish(&self) {
        self.0.meter.stopped.store(true, Ordering::Relaxed);
        let threads = {
            let mut state = self.0.lock();
            state.waiting.clear();
            for stream in &state.active {
                let _ = stream.shutdown(Shutdown::Both);
            }
            std::mem::take(&mut state.threads)
        };
        self.0.changed.notify_all();
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(stream) = self.next() {
            if self.answer(&stream).is_err() {
                // What it did not take in time is not kept for it.
                let _ = socket::set_abort(&stream);
            }
            self.lock()
                .active
                .retain(|other| !Arc::ptr_eq(other, &stream));
        }
    }

    /// Waits for a connection; none when the service ends.
    fn next(&self) -> Option<Arc<TcpStream>> {
        let mut state = self.lock();
        loop {
            if self.meter.stopped.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(stream) = state.waiting.pop_front() {
                let stream = Arc::new(stream);
                state.active.push(stream.clone());
                return Some(stream);
            }
            state.idle += 1;
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    fn answer(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(self.terms.patience))?;
        stream.set_write_timeout(Some(self.terms.patience))?;
        if let Some(bps) = self.terms.rate_bps {
            socket::set_max_pacing(stream, bps / 8)?;
        }
        match self.terms.manner {
            Manner::Short => short::answer(stream, &self.terms, &self.meter),
            Manner::Http => http::answer(stream, &self.terms, &self.meter),
        }
    }
}

impl Meter {
    /// Sends `head` and then `bytes` zeroes, all in full segments where they can be. A peer that
    /// takes nothing for as long as the socket's timeout is given up, and so is a very slow one.
    pub(super) fn give(&self, stream: &TcpStream, head: &[u8], terms: &Terms) -> io::Result<()> {
        terms.budget.reserve(terms.bytes)?;
        self.bytes.fetch_add(terms.bytes, Ordering::Relaxed);
        let slowest = Duration::from_secs(terms.bytes / SLOWEST);
        let deadline = Instant::now().after(terms.patience + slowest);
        let mut left = terms.bytes;
        if !head.is_empty() {
            // In one call, so that a small answer is one segment.
            let n = left.min(ZEROES.len() as u64);
            write(stream, &[head, &ZEROES[..n as usize]].concat(), deadline)?;
            left -= n;
        }
        while left > 0 {
            let n = left.min(ZEROES.len() as u64);
            write(stream, &ZEROES[..n as usize], deadline)?;
            left -= n;
        }
        Ok(())
    }
}

/// As `write_all`, to a deadline.
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

#[cfg(test)]
mod tests;
