//! Bulk TCP over connections that exist: one end always has something to send, the other takes it.

use std::{
    io,
    net::{Shutdown, TcpStream},
    os::fd::AsFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::{
    clock::Instant,
    socket, tcp_info,
    zeroes::{Outlet, Zeroes},
};

use super::{budget::Budget, looks::Looker, stride::Stride};
use crate::{spawn, tcp::Role, wire::message::TcpOutcome};

/// Most bytes of a call: what a pipe may hold (`/proc/sys/fs/pipe-max-size`) without privilege.
const CHUNK: usize = 1 << 20;

/// Bytes of the buffer of a receiver that copies.
const BUFFER: usize = 64 << 10;

/// What is agreed on of a load.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Whether this end sends.
    pub role: Role,
    /// When it starts: zero of all times.
    pub zero: Instant,
    /// How long the sender sends.
    pub duration: Duration,
    /// From one look to the next.
    pub look: Duration,
    /// Highest rate of each connection, bit/s, if there is one.
    pub rate_bps: Option<u64>,
    /// Bytes to send or take at most.
    pub budget: Budget,
    /// Bytes of memory for looks: loads side by side share them.
    pub look_memory: Budget,
}

/// A connection of a load.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) stream: TcpStream,
    /// Payload bytes that this end has given to its kernel, or taken from it.
    pub(super) bytes: AtomicU64,
}

/// This end's half of a running load.
pub struct TcpLoad {
    flows: Vec<Arc<Flow>>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    looker: Looker,
    cc_used: Vec<String>,
}

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    bytes: AtomicU64,
    errors: Mutex<Vec<String>>,
}

impl Shared {
    fn add(&self, flow: &Flow, n: usize, terms: &Terms) -> io::Result<()> {
        flow.bytes.fetch_add(n as u64, Ordering::Relaxed);
        self.bytes.fetch_add(n as u64, Ordering::Relaxed);
        terms.budget.spend(n as u64)
    }
}

impl TcpLoad {
    /// Starts this end's half.
    pub fn start(streams: Vec<TcpStream>, terms: Terms) -> io::Result<Self> {
        let flow = |stream| {
            Arc::new(Flow {
                stream,
                bytes: AtomicU64::new(0),
            })
        };
        let flows: Vec<_> = streams.into_iter().map(flow).collect();
        let shared = Arc::new(Shared::default());
        let threads = match terms.role {
            Role::Sender => senders(&flows, &terms, &shared)?,
            Role::Receiver => receivers(&flows, &terms, &shared)?,
        };
        let looker = Looker::start(flows.clone(), &terms)?;
        let cc_used = flows
            .iter()
            .filter_map(|flow| socket::congestion(&flow.stream).ok())
            .collect();
        Ok(Self {
            flows,
            shared,
            threads,
            looker,
            cc_used,
        })
    }

    /// Payload bytes that this end has sent (given to its kernel) or read so far.
    pub fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// Ends the half: what is still queued is thrown away, not sent.
    pub fn finish(self) -> TcpOutcome {
        // The last look must come before the sockets are shut.
        let flows = self.looker.finish();
        self.shared.stopped.store(true, Ordering::Relaxed);
        for flow in &self.flows {
            let _ = socket::set_abort(&flow.stream);
            let _ = flow.stream.shutdown(Shutdown::Both);
        }
        for thread in self.threads {
            let _ = thread.join();
        }
        let errors = std::mem::take(
            &mut *self
                .shared
                .errors
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        TcpOutcome {
            flows,
            cc_used: self.cc_used,
            errors,
        }
    }
}

fn senders(
    flows: &[Arc<Flow>],
    terms: &Terms,
    shared: &Arc<Shared>,
) -> io::Result<Vec<JoinHandle<()>>> {
    let zeroes = Zeroes::new(CHUNK)?;
    let start = |flow: &Arc<Flow>| {
        if let Some(bps) = terms.rate_bps {
            socket::set_max_pacing(&flow.stream, bps / 8)?;
        }
        let mut outlet = zeroes.outlet()?;
        half(flow, terms, shared, move |flow, terms, shared| {
            send(flow, &mut outlet, terms, shared)
        })
    };
    flows.iter().map(start).collect()
}

fn receivers(
    flows: &[Arc<Flow>],
    terms: &Terms,
    shared: &Arc<Shared>,
) -> io::Result<Vec<JoinHandle<()>>> {
    let start = |flow| half(flow, terms, shared, receive);
    flows.iter().map(start).collect()
}

fn half(
    flow: &Arc<Flow>,
    terms: &Terms,
    shared: &Arc<Shared>,
    body: impl FnOnce(&Flow, &Terms, &Shared) -> io::Result<()> + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let (flow, terms, shared) = (flow.clone(), terms.clone(), shared.clone());
    spawn("bulk", move || {
        terms.zero.wait();
        if let Err(error) = body(&flow, &terms, &shared)
            && !shared.stopped.load(Ordering::Relaxed)
            && Instant::now() < terms.zero.after(terms.duration)
        {
            shared
                .errors
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(error.to_string());
        }
    })
}

/// Sends until the time is over. The connection stays open: closing is up to `finish`, once the
/// last look has been taken.
fn send(flow: &Flow, outlet: &mut Outlet, terms: &Terms, shared: &Shared) -> io::Result<()> {
    let end = terms.zero.after(terms.duration);
    let mut stride = Stride::new(CHUNK);
    let mut now = Instant::now();
    while !shared.stopped.load(Ordering::Relaxed) && now < end {
        let n = outlet.send(&flow.stream, stride.bytes())?;
        shared.add(flow, n, terms)?;
        now = stride.took(now);
    }
    Ok(())
}

fn receive(flow: &Flow, terms: &Terms, shared: &Shared) -> io::Result<()> {
    if tcp_info::read(flow.stream.as_fd()).is_err() {
        return receive_as_it_comes(flow, terms, shared);
    }
    // What has come is known from the kernel, so that it need not be read to be counted.
    let mut stride = Stride::new(CHUNK);
    let mut now = Instant::now();
    while !shared.stopped.load(Ordering::Relaxed) {
        match socket::discard(&flow.stream, stride.bytes())? {
            0 => return Ok(()),
            n => shared.add(flow, n, terms)?,
        }
        now = stride.took(now);
    }
    Ok(())
}

/// Where the kernel does not say what has come, what was read must do, and so it is read at once.
fn receive_as_it_comes(flow: &Flow, terms: &Terms, shared: &Shared) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    while !shared.stopped.load(Ordering::Relaxed) {
        match io::Read::read(&mut &flow.stream, &mut buffer)? {
            0 => return Ok(()),
            n => shared.add(flow, n, terms)?,
        }
    }
    Ok(())
}
