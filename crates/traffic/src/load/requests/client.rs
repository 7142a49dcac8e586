//! A client of consecutive requests.

use std::{
    io,
    net::TcpStream,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use model::text::Text;
use sys::clock::Instant;

use super::{
    exchange::{Exchange, Open},
    http,
    short::{self, Connect},
};
use crate::spawn;

pub use super::exchange::{Batch, Config};

/// Maximum requests of a load; each one is stored.
pub const MAX: usize = 20_000;

/// Consecutive failures after which no more requests are made.
const FAILURES: u32 = 10;

/// Time after a failure.
const PAUSE: Duration = Duration::from_millis(50);

/// Results of the requests so far.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// Completed requests, in order.
    pub exchanges: Vec<Exchange>,
    /// Number of failed requests.
    pub failed: u64,
    /// Error of the first failed request.
    pub error: Option<Text>,
}

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    ended: AtomicBool,
    open: Open,
    requests: Mutex<Requests>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Requests that are being made.
pub struct RequestClient {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl RequestClient {
    /// Starts to make requests on separate connections, each opened with the greeting of its
    /// number.
    ///
    /// # Errors
    /// The host lacks a thread.
    pub fn short(
        mut connect: Connect,
        greeting: impl Fn(u32) -> Vec<u8> + Send + 'static,
        config: Config,
    ) -> io::Result<Self> {
        let mut number = 0;
        Self::start(config, move |open| {
            let greeting = greeting(number);
            number = number.wrapping_add(1);
            Some(short::request(&mut connect, &greeting, &config, open))
        })
    }

    /// Starts to make HTTP/1.1 requests on one connection that has greeted.
    ///
    /// # Errors
    /// The host lacks a thread, or the connection has ended.
    pub fn http(stream: TcpStream, config: Config) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(config.timeout))?;
        stream.set_write_timeout(Some(config.timeout))?;
        let mut fresh = Some(stream);
        let mut kept = None;
        Self::start(config, move |open| {
            if let Some(stream) = fresh.take() {
                kept = Some(open.set(stream));
            }
            let result = http::request(kept.as_ref()?, config.bytes);
            if result.is_err() {
                // Further data on it would belong to this request.
                kept = None;
            }
            Some(result)
        })
    }

    /// `request` makes one; `None`: there is no connection for more.
    fn start(
        config: Config,
        request: impl FnMut(&Open) -> Option<io::Result<Exchange>> + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let running = shared.clone();
        let thread = spawn("request", move || {
            run(config, &running, request);
            running.ended.store(true, Ordering::Relaxed);
        })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Results of the requests so far.
    pub fn so_far(&self) -> Requests {
        lock(&self.shared.requests).clone()
    }

    /// The latest completion time, ns, and the bytes of all responses so far.
    pub fn live(&self) -> (Option<u64>, u64) {
        let requests = lock(&self.shared.requests);
        let last = requests.exchanges.last();
        let bytes = last.map_or(0, |e| e.bytes * requests.exchanges.len() as u64);
        (last.map(|e| e.complete_ns), bytes)
    }

    /// Ends the requests, including the current one. Does not wait for that.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.shared.open.end();
    }

    /// Returns true if they were stopped.
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Relaxed)
    }

    /// Makes no further request, waits up to `grace` for the last response, and returns all
    /// exchanges. Without the wait the slow last exchange would be missing, and the rest would seem
    /// faster than the path is.
    pub fn finish(mut self, grace: Duration) -> Requests {
        self.shared.stopped.store(true, Ordering::Relaxed);
        let deadline = Instant::now().after(grace);
        while !self.shared.ended.load(Ordering::Relaxed) && Instant::now() < deadline {
            Instant::now().after(Duration::from_millis(1)).wait();
        }
        self.end();
        std::mem::take(&mut *lock(&self.shared.requests))
    }

    fn end(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for RequestClient {
    fn drop(&mut self) {
        self.end();
    }
}

fn run(
    config: Config,
    shared: &Shared,
    mut request: impl FnMut(&Open) -> Option<io::Result<Exchange>>,
) {
    let mut failures = 0;
    let enough = config.most_bytes.map(|bytes| bytes / config.bytes.max(1));
    let enough = enough.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let most = enough.min(config.most_requests);
    config.start.wait();
    for number in 0..most {
        config.wait_for(number, &shared.stopped);
        if shared.stopped.load(Ordering::Relaxed) || failures >= FAILURES {
            return;
        }
        let Some(result) = request(&shared.open) else {
            return;
        };
        if result.is_err() && shared.open.is_cut() {
            return;
        }
        let mut requests = lock(&shared.requests);
        match result {
            Ok(exchange) => {
                failures = 0;
                requests.exchanges.push(exchange);
            }
            Err(error) => {
                failures += 1;
                requests.failed += 1;
                requests.error.get_or_insert_with(|| Text::from(&error));
                drop(requests);
                Instant::now().after(PAUSE).wait();
            }
        }
    }
}
