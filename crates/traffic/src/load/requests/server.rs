//! Responses to requests on incoming connections, by a bounded number of threads, each with one
//! connection at a time, and with a timeout for slow readers.

use std::{
    collections::VecDeque,
    io,
    net::{Shutdown, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use sys::socket;

use super::{body::ResponseBody, http, short};
use crate::{
    admission::{Amounts, Hold, Lease, Need},
    load::Stop,
    spawn,
};

/// Protocol of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// One request per connection; the greeting is the request.
    Short,
    /// HTTP/1.1, many a connection.
    Http,
}

/// Agreed parameters.
#[derive(Clone, Debug)]
pub struct Config {
    /// Protocol of the requests.
    pub service: Service,
    /// Bytes of a request that come after its greeting; only of [`Service::Short`].
    pub upload: u64,
    /// Bytes of an answer.
    pub bytes: u64,
    /// Maximum concurrent connections; one more waits, and further ones are closed.
    pub connections: usize,
    /// Timeout of a peer for its request, and for each read of its response.
    pub timeout: Duration,
    /// Limits of the service: its connections and threads are held as needed.
    pub lease: Lease,
}

/// Resources that its lease must cover; `bytes`: of one response.
pub fn need(bytes: u64) -> Need {
    Need {
        amounts: Amounts {
            loads: 1,
            ..Amounts::NONE
        },
        duration: None,
        bytes,
    }
}

/// Resources of a connection.
const CONNECTION: Amounts = Amounts {
    connections: 1,
    descriptors: 1,
    ..Amounts::NONE
};

/// Resources of a thread.
const THREAD: Amounts = Amounts {
    threads: 1,
    ..Amounts::NONE
};

/// A running service. Dropping it ends it and all its connections.
pub struct RequestServer(Arc<Pool>);

struct Pool {
    service: Service,
    connections: usize,
    body: ResponseBody,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(TcpStream, Hold)>,
    /// Connections that are being answered, to end them.
    active: Vec<Arc<TcpStream>>,
    threads: Vec<JoinHandle<()>>,
    /// Threads that wait for a connection.
    idle: usize,
}

impl RequestServer {
    /// A service without any connection yet.
    pub fn new(config: Config) -> Self {
        let stop = Stop::new(config.lease);
        Self(Arc::new(Pool {
            service: config.service,
            connections: config.connections,
            body: ResponseBody::new(config.upload, config.bytes, config.timeout, stop),
            state: Mutex::default(),
            changed: Condvar::new(),
        }))
    }

    /// Takes a connection after its greeting. Never blocks; a connection above the limit is closed.
    pub fn take(&self, stream: TcpStream) {
        let lease = self.0.body.stop.lease();
        let mut state = self.0.lock();
        let held = state.waiting.len() + state.active.len();
        // A client may return with the next request before the thread that served it is free.
        if self.0.body.stop.is_set() || held > self.0.connections {
            return;
        }
        let Ok(hold) = lease.hold(CONNECTION) else {
            return;
        };
        state.waiting.push_back((stream, hold));
        if state.idle < state.waiting.len() && state.threads.len() < self.0.connections {
            let (pool, hold) = (self.0.clone(), lease.hold(THREAD));
            // Without a thread, it waits for a running one.
            let thread = hold.ok().and_then(|hold| {
                let work = move || {
                    pool.work();
                    drop(hold);
                };
                spawn("answer", work).ok()
            });
            state.threads.extend(thread);
        }
        self.0.changed.notify_one();
    }

    /// Bytes of answers so far.
    pub fn bytes(&self) -> u64 {
        self.0.body.given()
    }

    /// Ends the service and all its connections.
    pub fn finish(&self) {
        self.0.body.stop.set();
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

    #[cfg(test)]
    pub(super) fn active(&self) -> usize {
        self.0.lock().active.len()
    }

    #[cfg(test)]
    pub(super) fn threads(&self) -> usize {
        self.0.lock().threads.len()
    }
}

impl Drop for RequestServer {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some((stream, hold)) = self.next() {
            if self.answer(&stream).is_err() {
                // Data that it did not read in time is discarded.
                let _ = socket::set_abort(&stream);
            }
            self.lock()
                .active
                .retain(|other| !Arc::ptr_eq(other, &stream));
            drop(stream);
            drop(hold);
        }
    }

    /// Waits for a connection; none when the service ends.
    fn next(&self) -> Option<(Arc<TcpStream>, Hold)> {
        let mut state = self.lock();
        loop {
            if self.body.stop.is_set() {
                return None;
            }
            if let Some((stream, hold)) = state.waiting.pop_front() {
                let stream = Arc::new(stream);
                state.active.push(stream.clone());
                return Some((stream, hold));
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
        let timeout = Some(self.body.timeout);
        stream.set_nodelay(true)?;
        stream.set_read_timeout(timeout)?;
        stream.set_write_timeout(timeout)?;
        if let Some(bps) = self.body.stop.lease().rate_bps() {
            socket::set_max_pacing(stream, bps / 8)?;
        }
        match self.service {
            Service::Short => short::answer(stream, &self.body),
            Service::Http => http::answer(stream, &self.body),
        }
    }
}
