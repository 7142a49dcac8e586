//! Bulk TCP over connections that exist: one end always has something to send, the other takes it.

use std::{
    io,
    net::{Shutdown, TcpStream},
    os::fd::AsFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::{
    clock::Instant,
    socket, tcp_info,
    zeroes::{Outlet, Zeroes},
};

use super::{
    Stop,
    connection::Connection,
    samples::{self, Sampler},
    stride::Stride,
};
use crate::{
    admission::{Amounts, Lease, Need},
    spawn,
    tcp::Role,
    wire::message::TcpOutcome,
};

/// Most bytes of a call: what a pipe may hold (`/proc/sys/fs/pipe-max-size`) without privilege.
const CHUNK: usize = 1 << 20;

/// Bytes of the buffer of a receiver that copies.
const BUFFER: usize = 64 << 10;

/// What is agreed on of a load.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whether this end sends.
    pub role: Role,
    /// When it starts: zero of all times.
    pub zero: Instant,
    /// From one sample of `TCP_INFO` to the next.
    pub sample_interval: Duration,
    /// How long the sender sends, and what bounds both.
    pub lease: Lease,
}

/// What a lease of a load must have been asked for.
pub fn need(role: Role, flows: u16, duration: Duration) -> Need {
    let flows = u64::from(flows);
    let descriptors = match role {
        // Each sender has a pipe of its own beside the one that is always full.
        Role::Sender => 3 * flows + 2,
        Role::Receiver => flows,
    };
    Need {
        amounts: Amounts {
            loads: 1,
            connections: flows,
            threads: flows + 1,
            descriptors,
            ..Amounts::NONE
        },
        duration: Some(duration),
        bytes: 0,
    }
}

/// This end's half of a running load. Dropping it ends it.
pub struct TcpLoad {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    sampler: Option<Sampler>,
    cc_used: Vec<String>,
}

struct Shared {
    stop: Stop,
    role: Role,
    zero: Instant,
    connections: Vec<Arc<Connection>>,
    bytes: AtomicU64,
    errors: Mutex<Vec<String>>,
}

impl TcpLoad {
    /// Starts this end's half.
    ///
    /// # Errors
    /// The host lacks threads or descriptors.
    pub fn start(streams: Vec<TcpStream>, config: Config) -> io::Result<Self> {
        let connections = streams.into_iter().map(Connection::new).map(Arc::new);
        let shared = Arc::new(Shared {
            stop: Stop::new(config.lease.clone()),
            role: config.role,
            zero: config.zero,
            connections: connections.collect(),
            bytes: AtomicU64::new(0),
            errors: Mutex::default(),
        });
        // From here on, dropping it ends what has started.
        let mut load = Self {
            threads: Vec::new(),
            sampler: None,
            cc_used: Vec::new(),
            shared,
        };
        match config.role {
            Role::Sender => load.start_senders()?,
            Role::Receiver => load.start_receivers()?,
        }
        let overdue = load.shared.clone();
        let sampling = samples::Config {
            role: config.role,
            zero: config.zero,
            interval: config.sample_interval,
            lease: config.lease,
            overdue: Box::new(move || overdue.cut()),
        };
        let connections = load.shared.connections.clone();
        load.sampler = Some(Sampler::start(connections, sampling)?);
        let connections = load.shared.connections.iter();
        load.cc_used = connections
            .filter_map(|connection| socket::congestion(&connection.stream).ok())
            .collect();
        Ok(load)
    }

    fn start_senders(&mut self) -> io::Result<()> {
        let zeroes = Zeroes::new(CHUNK)?;
        for connection in &self.shared.connections {
            if let Some(bps) = self.shared.stop.lease().rate_bps() {
                socket::set_max_pacing(&connection.stream, bps / 8)?;
            }
            let mut outlet = zeroes.outlet()?;
            let body = move |connection: &Connection, shared: &Shared| {
                send(connection, &mut outlet, shared)
            };
            self.threads.push(half(connection, &self.shared, body)?);
        }
        Ok(())
    }

    fn start_receivers(&mut self) -> io::Result<()> {
        for connection in &self.shared.connections {
            self.threads.push(half(connection, &self.shared, receive)?);
        }
        Ok(())
    }

    /// Payload bytes that this end has sent (given to its kernel) or read so far.
    pub fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// Ends the half: what is still queued is thrown away, not sent.
    pub fn finish(mut self) -> TcpOutcome {
        let flows = self.end();
        TcpOutcome {
            flows,
            cc_used: std::mem::take(&mut self.cc_used),
            errors: std::mem::take(&mut *self.shared.errors()),
        }
    }

    fn end(&mut self) -> Vec<model::run::Series> {
        // The last sample must come before the sockets are shut.
        let flows = self.sampler.take().map_or_else(Vec::new, Sampler::finish);
        self.shared.charge_unread();
        self.shared.cut();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        flows
    }
}

impl Drop for TcpLoad {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    /// Ends all connections and with them what waits on them.
    fn cut(&self) {
        self.stop.set();
        for connection in &self.connections {
            let _ = socket::set_abort(&connection.stream);
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
    }

    fn add(&self, connection: &Connection, n: usize) {
        connection.bytes.fetch_add(n as u64, Ordering::Relaxed);
        self.bytes.fetch_add(n as u64, Ordering::Relaxed);
    }

    fn errors(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the kernel has taken in and nobody has read has been received all the same.
    fn charge_unread(&self) {
        let lease = self.stop.lease();
        if self.role != Role::Receiver || !lease.is_metered() {
            return;
        }
        for connection in &self.connections {
            let info = tcp_info::read(connection.stream.as_fd()).ok();
            let came = info.and_then(|info| info.bytes_received).unwrap_or(0);
            let read = connection.bytes.load(Ordering::Relaxed);
            let _ = lease.received(came.saturating_sub(read));
        }
    }
}

fn half(
    connection: &Arc<Connection>,
    shared: &Arc<Shared>,
    body: impl FnOnce(&Connection, &Shared) -> io::Result<()> + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let (connection, shared) = (connection.clone(), shared.clone());
    spawn("bulk", move || {
        shared.zero.wait();
        let end = shared.zero.after(shared.stop.lease().duration());
        if let Err(error) = body(&connection, &shared)
            && !shared.stop.is_set()
            && Instant::now() < end
        {
            shared.errors().push(error.to_string());
            // A peer that may send no more learns of it.
            let _ = socket::set_abort(&connection.stream);
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
    })
}

/// Sends until the time is over. The connection stays open: closing is up to `finish`, once the
/// last sample has been taken.
fn send(connection: &Connection, outlet: &mut Outlet, shared: &Shared) -> io::Result<()> {
    let (stop, lease) = (&shared.stop, shared.stop.lease());
    let end = shared.zero.after(lease.duration());
    let mut stride = Stride::new(CHUNK);
    let mut now = Instant::now();
    while !stop.is_set() && now < end {
        let taken = lease.take(stride.bytes())?;
        let n = outlet.send(&connection.stream, taken)?;
        shared.add(connection, n);
        now = stride.took(now);
        if let Some(until) = lease.sent(taken, n) {
            stop.pause(Some(until.min(end)));
            now = Instant::now();
        }
    }
    Ok(())
}

fn receive(connection: &Connection, shared: &Shared) -> io::Result<()> {
    if tcp_info::read(connection.stream.as_fd()).is_err() {
        return receive_as_it_comes(connection, shared);
    }
    let (stop, lease) = (&shared.stop, shared.stop.lease());
    // What has come is known from the kernel, so that it need not be read to be counted.
    let mut stride = Stride::new(CHUNK);
    let mut now = Instant::now();
    while !stop.is_set() {
        let n = socket::discard(&connection.stream, lease.chunk(stride.bytes()))?;
        if n == 0 {
            return Ok(());
        }
        shared.add(connection, n);
        now = stride.took(now);
        if let Some(until) = lease.received(n as u64)? {
            stop.pause(Some(until));
            now = Instant::now();
        }
    }
    Ok(())
}

/// Where the kernel does not say what has come, what was read must do, and so it is read at once.
fn receive_as_it_comes(connection: &Connection, shared: &Shared) -> io::Result<()> {
    let (stop, lease) = (&shared.stop, shared.stop.lease());
    let mut buffer = vec![0; BUFFER];
    while !stop.is_set() {
        match io::Read::read(&mut &connection.stream, &mut buffer)? {
            0 => return Ok(()),
            n => {
                shared.add(connection, n);
                stop.pause(lease.received(n as u64)?);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
