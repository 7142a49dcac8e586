//! Server: accepts connections, runs one test at a time, and reports its outcome.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    os::fd::AsFd,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering::Relaxed},
        mpsc::{self, Sender},
    },
    thread::{Builder, Scope, ScopedJoinHandle},
    time::Duration,
};

use sys::{
    clock::Instant,
    socket::{self, TcpOptions},
    wait,
};

pub use super::limits::Config;
use super::{
    Error,
    outcome::Outcome,
    session::{Session, Step},
    wire::{COOKIE_LEN, Control, Cookie, State},
};

/// Timeout of a connection for its cookie.
const SHOW: Duration = Duration::from_secs(10);
/// Stack of a test's thread: parsing JSON recurses, to a depth of 128 (`serde_json`), which takes
/// up to 1.5 kB a level in a build without optimisation.
const STACK: usize = 512 << 10;
/// Longest wait before other pending work is handled.
const WAIT: Duration = Duration::from_millis(100);
/// The same while a connection waits for the cleanup of the last test.
const SOON: Duration = Duration::from_millis(2);

/// A completed test.
#[derive(Debug)]
pub struct Report {
    /// The client.
    pub client: SocketAddr,
    /// Its outcome.
    pub result: Result<Outcome, Error>,
}

/// A listening server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    config: Config,
}

impl Server {
    /// Listens on `address`; on IPv4 only if it is the unspecified address and this host has no
    /// IPv6. For UDP the same port is used, as long as a test needs it.
    ///
    /// # Errors
    /// The server cannot listen on the address.
    pub fn bind(address: SocketAddr, config: Config) -> io::Result<Self> {
        let listen = |address| socket::tcp_listener(address, &TcpOptions::default());
        let listener = match listen(address) {
            Err(_) if address.ip() == Ipv6Addr::UNSPECIFIED => {
                listen((Ipv4Addr::UNSPECIFIED, address.port()).into())?
            }
            result => result?,
        };
        listener.set_nonblocking(true)?;
        Ok(Self {
            address: listener.local_addr()?,
            listener,
            config,
        })
    }

    /// Returns the listen address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Does tests until `stop` is set or `report` returns false, and calls `report` after each.
    ///
    /// # Errors
    /// The listening socket failed. A test that fails is reported, and the next one is taken.
    pub fn serve(
        &self,
        stop: &AtomicBool,
        report: &mut dyn FnMut(Report) -> bool,
    ) -> io::Result<()> {
        std::thread::scope(|scope| {
            let mut acceptor = Acceptor {
                server: self,
                scope,
                stop,
                pending: Vec::new(),
                accepted: 0,
                active: None,
            };
            loop {
                if let Some(result) = acceptor.over(stop.load(Relaxed))
                    && !report(result)
                {
                    return Ok(());
                }
                if stop.load(Relaxed) {
                    return Ok(());
                }
                acceptor.wait()?;
            }
        })
    }
}

/// A connection whose cookie is incomplete, or that waits for the end of the last test.
struct Pending {
    stream: TcpStream,
    peer: SocketAddr,
    /// Its place in the order of connections.
    number: u64,
    since: Instant,
    cookie: Vec<u8>,
}

impl Pending {
    /// Reads available data; false if the connection must be closed.
    fn read(&mut self) -> bool {
        let mut bytes = [0; COOKIE_LEN];
        let room = COOKIE_LEN - self.cookie.len();
        match self.stream.read(&mut bytes[..room]) {
            Ok(0) => room == 0,
            Ok(n) => {
                self.cookie.extend(&bytes[..n]);
                true
            }
            Err(e) => matches!(
                e.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            ),
        }
    }

    fn is_complete(&self) -> bool {
        self.cookie.len() == COOKIE_LEN
    }
}

/// The test that is running.
struct Active<'scope> {
    cookie: Cookie,
    client: SocketAddr,
    step: Arc<AtomicU8>,
    data: Sender<(u64, TcpStream)>,
    control: TcpStream,
    thread: ScopedJoinHandle<'scope, Result<Outcome, Error>>,
}

impl Active<'_> {
    fn is(&self, step: Step) -> bool {
        self.step.load(Relaxed) == step as u8
    }
}

/// Connections that are not yet part of a test, and the test that runs.
struct Acceptor<'scope, 'env> {
    server: &'env Server,
    scope: &'scope Scope<'scope, 'env>,
    stop: &'env AtomicBool,
    pending: Vec<Pending>,
    accepted: u64,
    active: Option<Active<'scope>>,
}

impl<'scope, 'env> Acceptor<'scope, 'env> {
    /// Returns the test that has ended, if any; with `wait`, waits for it.
    fn over(&mut self, wait: bool) -> Option<Report> {
        let active = self
            .active
            .take_if(|active| wait || active.thread.is_finished())?;
        if wait && !active.is(Step::Running) {
            // It may be waiting for a message that never arrives.
            let _ = active.control.shutdown(Shutdown::Read);
        }
        Some(Report {
            client: active.client,
            result: active.thread.join().unwrap_or(Err(Error::Panicked)),
        })
    }

    /// Waits for an event for a limited time, and handles it.
    fn wait(&mut self) -> io::Result<()> {
        let waits = self.pending.iter().any(Pending::is_complete);
        let limit = if waits { SOON } else { WAIT };
        let mut fds = vec![self.server.listener.as_fd()];
        let reading = self.pending.iter().filter(|p| !p.is_complete());
        fds.extend(reading.map(|p| p.stream.as_fd()));
        wait::readable(&fds, limit)?;
        self.accept();
        let old = Instant::now();
        self.pending
            .retain_mut(|p| p.read() && p.since.after(SHOW) > old);
        for pending in std::mem::take(&mut self.pending) {
            self.settle(pending);
        }
        Ok(())
    }

    fn accept(&mut self) {
        for _ in 0..self.server.config.pending {
            let (stream, peer) = match self.server.listener.accept() {
                Ok((stream, peer)) if stream.set_nonblocking(true).is_ok() => (stream, peer),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Ok(_) => continue,
                Err(_) => {
                    // Out of descriptors, which is temporary, or the connection is already closed.
                    Instant::now().after(SOON).wait();
                    return;
                }
            };
            if self.pending.len() >= self.server.config.pending {
                self.pending.remove(0);
            }
            self.pending.push(Pending {
                stream,
                peer,
                number: self.accepted,
                since: Instant::now(),
                cookie: Vec::with_capacity(COOKIE_LEN),
            });
            self.accepted += 1;
        }
    }

    /// Hands a connection to its test, once its cookie has arrived.
    fn settle(&mut self, mut pending: Pending) {
        if !pending.is_complete() {
            return self.pending.push(pending);
        }
        let Some(cookie) = Cookie::parse(&pending.cookie) else {
            return;
        };
        match &self.active {
            None => self.begin(pending, cookie),
            Some(active) if active.cookie == cookie && active.is(Step::Opening) => {
                let _ = active.data.send((pending.number, pending.stream));
            }
            // The client of the next test may connect before the last one is cleaned up.
            Some(active) if active.is(Step::Leaving) || active.thread.is_finished() => {
                self.pending.push(pending);
            }
            Some(_) => {
                let _ = pending.stream.write(&[State::AccessDenied.byte()]);
            }
        }
    }

    fn begin(&mut self, mut pending: Pending, cookie: Cookie) {
        let admission = &self.server.config.admission;
        let Ok(admitted) = admission.admit(pending.peer.ip()) else {
            let _ = pending.stream.write(&[State::AccessDenied.byte()]);
            return;
        };
        let control = pending.stream.try_clone();
        let (Ok(control), Ok(seen)) = (Control::new(pending.stream), control) else {
            return;
        };
        let (data, taken) = mpsc::channel();
        let step = Arc::new(AtomicU8::new(Step::Asking as u8));
        let (limits, stop, shown) = (*admission.limits(), self.stop, step.clone());
        let peer: IpAddr = pending.peer.ip();
        let session = move || {
            let mut session = Session {
                control,
                peer,
                limits,
                admitted,
                data: taken,
                step: &shown,
                stop,
            };
            let result = session.run();
            drop(session);
            sys::memory::trim();
            result
        };
        let thread = Builder::new()
            .name("iperf3".to_owned())
            .stack_size(STACK)
            .spawn_scoped(self.scope, session);
        // Where no thread can be started, the client sees its connection closed.
        self.active = thread.ok().map(|thread| Active {
            cookie,
            client: pending.peer,
            step,
            data,
            control: seen,
            thread,
        });
    }
}
