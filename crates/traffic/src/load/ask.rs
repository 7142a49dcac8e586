//! Requests one after the other, for as long as is wanted.

use std::{
    io,
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::clock::Instant;

use super::{
    http,
    short::{self, Connect},
};
use crate::spawn;

/// Most requests of one load: more say nothing more, and each is kept.
const MOST: usize = 20_000;

/// Failures one after the other from which no more requests are made.
const FAILURES: u32 = 10;

/// Time after a failure.
const PAUSE: Duration = Duration::from_millis(50);

/// What is agreed on.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Bytes of an answer.
    pub bytes: u64,
    /// How long to wait for any part of an answer.
    pub patience: Duration,
    /// Most bytes of answers in all, if there is a bound.
    pub most_bytes: Option<u64>,
}

/// A request that was answered. Times are from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When the connection stood, ns; absent if it did before.
    pub connect_ns: Option<u64>,
    /// When the first byte of the answer was there, ns.
    pub first_byte_ns: u64,
    /// When the last one was, ns.
    pub complete_ns: u64,
    /// Bytes of the answer.
    pub bytes: u64,
}

/// What came of the requests so far.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Those that were answered, in order.
    pub exchanges: Vec<Exchange>,
    /// How many were not.
    pub failed: u64,
    /// Why the first of these was not.
    pub error: Option<String>,
}

/// The connection that is open now, for the one who wants to end it.
#[derive(Default)]
pub(super) struct Open {
    cut: AtomicBool,
    stream: Mutex<Option<Arc<TcpStream>>>,
}

impl Open {
    /// Remembers it in place of the one before.
    pub(super) fn set(&self, stream: TcpStream) -> Arc<TcpStream> {
        let stream = Arc::new(stream);
        *lock(&self.stream) = Some(stream.clone());
        if self.is_cut() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        stream
    }

    fn is_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst)
    }

    fn end(&self) {
        self.cut.store(true, Ordering::SeqCst);
        if let Some(stream) = &*lock(&self.stream) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    ended: AtomicBool,
    open: Open,
    asked: Mutex<Asked>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Requests that are being made.
pub struct Asking {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

impl Asking {
    /// Starts to make requests on connections of their own, each opened with `greeting`.
    pub fn short(mut connect: Connect, greeting: Vec<u8>, terms: Terms) -> io::Result<Self> {
        Self::start(terms, move |open| {
            short::ask(&mut connect, &greeting, terms.bytes, terms.patience, open)
        })
    }

    /// Starts to make HTTP/1.1 requests on one connection that has greeted.
    pub fn http(stream: TcpStream, terms: Terms) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(terms.patience))?;
        stream.set_write_timeout(Some(terms.patience))?;
        let mut fresh = Some(stream);
        let mut kept = None;
        Self::start(terms, move |open| {
            if let Some(stream) = fresh.take() {
                kept = Some(open.set(stream));
            }
            let stream = kept.as_ref().ok_or(io::ErrorKind::NotConnected)?;
            let result = http::ask(stream, terms.bytes);
            if result.is_err() {
                // What follows on it would be the rest of this one.
                kept = None;
            }
            result
        })
    }

    fn start(
        terms: Terms,
        ask: impl FnMut(&Open) -> io::Result<Exchange> + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let told = shared.clone();
        let thread = spawn("ask", move || {
            run(terms, &told, ask);
            told.ended.store(true, Ordering::Relaxed);
        })?;
        Ok(Self { shared, thread })
    }

    /// What came of the requests so far.
    pub fn so_far(&self) -> Asked {
        lock(&self.shared.asked).clone()
    }

    /// The latest completion time, ns, and the bytes of all answers so far.
    pub fn live(&self) -> (Option<u64>, u64) {
        let asked = lock(&self.shared.asked);
        let last = asked.exchanges.last();
        let bytes = last.map_or(0, |e| e.bytes * asked.exchanges.len() as u64);
        (last.map(|e| e.complete_ns), bytes)
    }

    /// Makes no further request, waits up to `grace` for the last answer, and returns all. One that
    /// does not come in this time was not asked for: a slow one would otherwise count as none, and
    /// the rest would look faster than the path is.
    pub fn finish(self, grace: Duration) -> Asked {
        self.shared.stopped.store(true, Ordering::Relaxed);
        let deadline = Instant::now().after(grace);
        while !self.shared.ended.load(Ordering::Relaxed) && Instant::now() < deadline {
            Instant::now().after(Duration::from_millis(1)).wait();
        }
        self.shared.open.end();
        let _ = self.thread.join();
        std::mem::take(&mut *lock(&self.shared.asked))
    }
}

fn run(terms: Terms, shared: &Shared, mut ask: impl FnMut(&Open) -> io::Result<Exchange>) {
    let mut failures = 0;
    let most = terms.most_bytes.map_or(MOST, |bytes| {
        usize::try_from(bytes / terms.bytes.max(1)).map_or(MOST, |n| n.min(MOST))
    });
    for _ in 0..most {
        if shared.stopped.load(Ordering::Relaxed) || failures >= FAILURES {
            return;
        }
        let result = ask(&shared.open);
        if result.is_err() && shared.open.is_cut() {
            return;
        }
        let mut asked = lock(&shared.asked);
        match result {
            Ok(exchange) => {
                failures = 0;
                asked.exchanges.push(exchange);
            }
            Err(error) => {
                failures += 1;
                asked.failed += 1;
                asked.error.get_or_insert_with(|| error.to_string());
                drop(asked);
                Instant::now().after(PAUSE).wait();
            }
        }
    }
}
