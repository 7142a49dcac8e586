//! Datagrams at a rate over connected sockets.

mod config;
mod half;
mod receive;
mod send;

use std::{
    io,
    net::UdpSocket,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::socket;

use super::Stop;
use crate::{
    admission::{Amounts, Need},
    spawn,
    wire::message::{UdpOrder, UdpOutcome},
};
use config::WAIT;
use half::Shared;
use receive::Until;
use send::BURST;

pub use config::Config;
pub use half::Half;
pub use send::{Spacing, is_loss};

/// Bytes of the kernel's buffers of a receiver and of a sender.
const RECEIVE_BUFFER: usize = 8 << 20;
const SEND_BUFFER: usize = 1 << 20;

/// Bytes of the buffer of a sender whose datagrams wait in the queue of its own device.
const QUEUE_BUFFER: usize = 64 << 10;

/// Idle time that ends a receiver that counts to the last datagram.
const QUIET: Duration = Duration::from_millis(200);

/// Resources that the lease of a load must cover.
pub fn need(order: &UdpOrder) -> Need {
    let duration = Duration::from_micros(order.duration_us);
    let bytes = order.rate_bps as f64 / 8.0 * duration.as_secs_f64();
    let (memory, send_bps, receive_bps) = if order.send {
        let datagrams = BURST * order.payload as usize;
        (SEND_BUFFER + datagrams, order.rate_bps, 0)
    } else {
        (RECEIVE_BUFFER, 0, order.rate_bps)
    };
    Need {
        amounts: Amounts {
            loads: 1,
            threads: 1,
            descriptors: 1,
            memory: memory as u64,
            send_bps,
            receive_bps,
            ..Amounts::NONE
        },
        duration: Some(duration),
        bytes: bytes as u64,
    }
}

/// This end's half of a running load. Dropping it ends it.
pub struct UdpLoad {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Half>>,
}

impl UdpLoad {
    /// Starts to send.
    ///
    /// # Errors
    /// The host lacks a thread or memory for the socket.
    pub fn send(socket: UdpSocket, config: Config) -> io::Result<Self> {
        Self::send_spaced(socket, config, Spacing::Timer)
    }

    /// Same as [`send`](Self::send), with another pacing of the datagrams.
    ///
    /// # Errors
    /// As of [`send`](Self::send); and the kernel does not pace the socket.
    pub fn send_spaced(socket: UdpSocket, config: Config, spacing: Spacing) -> io::Result<Self> {
        match spacing {
            Spacing::Timer | Spacing::Kernel => {
                socket::set_buffers(&socket, SEND_BUFFER, SEND_BUFFER)?
            }
            // One datagram at a time needs no more than the kernel's default buffer.
            Spacing::Single => {}
            Spacing::Queue => {
                socket::set_max_pacing(&socket, send::paced_rate(&config))?;
                socket::set_buffers(&socket, QUEUE_BUFFER, QUEUE_BUFFER)?;
            }
        }
        Self::start(config, move |config, shared| {
            send::run(&socket, config, spacing, shared)
        })
    }

    /// Starts to count arrivals. It ends soon after its time, or when more has arrived than was
    /// agreed on.
    ///
    /// # Errors
    /// The host lacks a thread or memory for the socket.
    pub fn receive(socket: UdpSocket, config: Config) -> io::Result<Self> {
        socket.set_read_timeout(Some(WAIT))?;
        Self::count(socket, config, Until::Stopped)
    }

    /// Same as [`receive`](Self::receive), with a sample of the counts in each `interval` with
    /// arrivals. Ends when nothing has arrived for 200 ms after it was stopped.
    ///
    /// # Errors
    /// As of [`receive`](Self::receive).
    pub fn receive_sampled(
        socket: UdpSocket,
        config: Config,
        interval: Duration,
    ) -> io::Result<Self> {
        socket.set_read_timeout(Some(QUIET))?;
        Self::count(socket, config, Until::Quiet(interval))
    }

    fn count(socket: UdpSocket, config: Config, until: Until) -> io::Result<Self> {
        socket::set_buffers(&socket, RECEIVE_BUFFER, SEND_BUFFER)?;
        Self::start(config, move |config, shared| {
            receive::run(&socket, config, until, shared)
        })
    }

    fn start(
        config: Config,
        body: impl FnOnce(&Config, &Shared) -> Half + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            stop: Stop::new(config.lease.clone()),
            count: AtomicU64::new(0),
        });
        let running = shared.clone();
        let thread = spawn("udp", move || body(&config, &running))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Payload bytes sent or received so far.
    pub fn bytes(&self) -> u64 {
        self.shared.count.load(Ordering::Relaxed)
    }

    /// Ends the half, without waiting for it.
    pub fn stop(&self) {
        self.shared.stop.set();
    }

    /// Returns true if it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.shared.stop.is_set()
    }

    /// Ends the half and returns its counts.
    pub fn finish(self) -> UdpOutcome {
        self.finish_half().outcome
    }

    /// Ends the half and returns all its results.
    pub fn finish_half(mut self) -> Half {
        self.end()
    }

    fn end(&mut self) -> Half {
        self.shared.stop.set();
        let joined = self.thread.take().map(JoinHandle::join);
        joined.and_then(Result::ok).unwrap_or_default()
    }
}

impl Drop for UdpLoad {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests;
