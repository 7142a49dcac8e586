//! Bulk TCP: a sender with unlimited data, and its receiver.

mod half;
mod shared;

use std::{
    io,
    net::{SocketAddr, TcpStream},
    sync::{Arc, atomic::Ordering},
    thread::JoinHandle,
    time::Duration,
};

use model::{run::Series, text::Text};
use sys::{clock::Instant, socket, zeroes::Zeroes};

use super::{
    Role,
    connection::Connection,
    samples::{self, Sampler, Samples},
};
use crate::{
    Opener,
    admission::{Amounts, Lease, Need},
    wire::{Errors, message::TcpOutcome},
};
use half::{CHUNK, Task};
use shared::{Drive, Shared};

/// Agreed parameters of a load.
#[derive(Clone, Debug)]
pub struct Config {
    /// Role of this end: sender or receiver.
    pub role: Role,
    /// Start time, the zero of all times.
    pub zero: Instant,
    /// From one sample of `TCP_INFO` to the next.
    pub sample_interval: Duration,
    /// Sending time, and limits of both ends.
    pub lease: Lease,
}

/// Resources that the lease of a load must cover.
pub fn need(role: Role, flows: u16, duration: Duration) -> Need {
    let flows = u64::from(flows);
    let descriptors = match role {
        // Each sender has a pipe in addition to the one that is always full.
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

/// Data that the senders of several loads may share: zeroes.
///
/// # Errors
/// The process has no descriptors left, or the kernel no memory.
pub fn zeroes() -> io::Result<Zeroes> {
    Zeroes::new(CHUNK)
}

/// This end's half of a running load. Dropping it ends it.
pub struct TcpLoad {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    sampler: Option<Sampler>,
    /// Samples, if the owner takes them.
    samples: Vec<Samples>,
    cc_used: Vec<String>,
}

impl TcpLoad {
    /// Starts this end's half on connections that are established.
    ///
    /// # Errors
    /// The host lacks threads or descriptors.
    pub fn start(streams: Vec<TcpStream>, config: Config) -> io::Result<Self> {
        let connections = streams.into_iter().map(Connection::established);
        let mut load = Self::new(connections.map(Arc::new).collect(), &config, Drive::Load);
        let zeroes = match config.role {
            Role::Sender => Some(zeroes()?),
            Role::Receiver => None,
        };
        for connection in &load.shared.connections {
            let stream = connection.stream();
            if let (Role::Sender, Some(bps), Some(stream)) =
                (config.role, config.lease.rate_bps(), stream)
            {
                socket::set_max_pacing(stream, bps / 8)?;
            }
            let thread = half::start(connection, &load.shared, None, task(zeroes.as_ref())?)?;
            load.threads.push(thread);
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
        load.cc_used = load.congestion();
        Ok(load)
    }

    /// Starts half of one connection, which `open` makes at the time `zero`, or waits for from
    /// then on. Its owner samples and stops it. A sender takes from `zeroes`; a half without is a
    /// receiver.
    ///
    /// # Errors
    /// The host lacks threads or descriptors.
    pub fn driven(
        open: Opener<TcpStream>,
        zeroes: Option<&Zeroes>,
        zero: Instant,
    ) -> io::Result<Self> {
        let config = Config {
            role: zeroes.map_or(Role::Receiver, |_| Role::Sender),
            zero,
            sample_interval: Duration::MAX,
            lease: Lease::own(Duration::MAX, None, None),
        };
        let connection = Arc::new(Connection::default());
        let mut load = Self::new(vec![connection.clone()], &config, Drive::Owner);
        let thread = half::start(&connection, &load.shared, Some(open), task(zeroes)?)?;
        load.threads.push(thread);
        Ok(load)
    }

    /// A load without threads. From now on, dropping it ends the started threads.
    fn new(connections: Vec<Arc<Connection>>, config: &Config, drive: Drive) -> Self {
        Self {
            threads: Vec::new(),
            sampler: None,
            samples: connections.iter().map(|_| Samples::default()).collect(),
            cc_used: Vec::new(),
            shared: Arc::new(Shared::new(
                connections,
                config.role,
                config.zero,
                config.lease.clone(),
                drive,
            )),
        }
    }

    /// Payload bytes that this end has sent (given to its kernel) or read so far.
    pub fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// The congestion control of each connection that is established, as its kernel reports it.
    pub fn congestion(&self) -> Vec<String> {
        let streams = self.shared.connections.iter().filter_map(|c| c.stream());
        streams.filter_map(|s| socket::congestion(s).ok()).collect()
    }

    /// Samples the established connections, at times chosen by the owner, ns.
    pub fn sample(&mut self, at_ns: i64) {
        for (connection, samples) in self.shared.connections.iter().zip(&mut self.samples) {
            if connection.stream().is_some() {
                samples.take_at(connection, at_ns);
            }
        }
    }

    /// Local and remote address of its connection, if it is the only one and is established.
    pub fn addresses(&self) -> Option<(SocketAddr, SocketAddr)> {
        let [connection] = self.shared.connections.as_slice() else {
            return None;
        };
        let stream = connection.stream()?;
        Some((stream.local_addr().ok()?, stream.peer_addr().ok()?))
    }

    /// Adds a sample of its only connection that its owner took by other means: bytes of `struct
    /// tcp_info`.
    pub fn add_sample(&mut self, at_ns: i64, info: &[u8]) {
        if let (Some(connection), Some(samples)) =
            (self.shared.connections.first(), self.samples.first_mut())
        {
            samples.add(at_ns, info, connection);
        }
    }

    /// Ends the data; blocked calls return. Does not wait for that.
    pub fn stop(&self) {
        self.shared.cut();
    }

    /// Returns true if it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.shared.stop.is_set()
    }

    /// Errors so far.
    pub fn errors(&self) -> Vec<Text> {
        self.shared.errors().clone()
    }

    /// Ends the half: queued data is discarded, not sent.
    pub fn finish(mut self) -> TcpOutcome {
        let flows = self.end();
        TcpOutcome {
            flows,
            cc_used: std::mem::take(&mut self.cc_used),
            errors: Errors(std::mem::take(&mut *self.shared.errors())),
        }
    }

    /// Ends the half of an owner who samples, and returns the samples of each connection.
    pub fn finish_samples(mut self) -> Vec<Samples> {
        self.end();
        std::mem::take(&mut self.samples)
    }

    fn end(&mut self) -> Vec<Series> {
        // The last sample must be taken before the sockets are shut down.
        let flows = self.sampler.take().map_or_else(Vec::new, Sampler::finish);
        self.shared.charge_unread();
        self.shared.cut();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        flows
    }
}

fn task(zeroes: Option<&Zeroes>) -> io::Result<Task> {
    Ok(match zeroes {
        Some(zeroes) => Task::Send(zeroes.outlet()?),
        None => Task::Receive,
    })
}

impl Drop for TcpLoad {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests;
