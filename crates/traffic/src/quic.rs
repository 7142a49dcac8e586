//! QUIC as a load: one stream that always has something to send, over a socket whose address is
//! proved.
//!
//! The protocol is quinn-proto, which does no I/O and takes the time as an argument; a thread of
//! blocking calls drives it, so that it runs in a lab guest as well. Congestion control, loss
//! recovery and pacing are the library's, and what is measured is that library.

mod drive;
mod identity;
mod provider;
mod samples;
mod session;
mod settings;

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

use sys::clock::Instant;

pub use identity::Identity;

use crate::{
    admission::{Amounts, Lease, Need},
    load::Stop,
    spawn_with,
    wire::{PublicKey, message::QuicOutcome},
};

/// Whether QUIC is there.
pub const AVAILABLE: bool = true;

/// The library and its congestion control.
pub const LIBRARY: &str = "quinn-proto 0.11.19 cubic";

/// Stack of the thread: TLS needs more than other halves.
const STACK: usize = 512 << 10;

/// Which end of a connection this is.
#[derive(Debug)]
pub enum Side {
    /// Connects to the end that has this key.
    Near(PublicKey),
    /// Is connected to.
    Far(Identity),
}

/// What is agreed on of a load.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whether this end sends.
    pub sends: bool,
    /// When it starts: zero of all times.
    pub zero: Instant,
    /// From one sample to the next.
    pub sample_interval: Duration,
    /// How long the sender sends, and what bounds both ends.
    pub lease: Lease,
}

/// Memory of a load, bytes: the kernel's buffers, what the flow control lets the library hold, and
/// the samples.
const MEMORY: u64 =
    (drive::RECEIVE_BUFFER + drive::SEND_BUFFER) as u64 + settings::WINDOW as u64 + samples::MEMORY;

/// What a lease of a load must have been asked for.
pub fn need(duration: Duration) -> Need {
    Need {
        amounts: Amounts {
            loads: 1,
            threads: 1,
            descriptors: 1,
            memory: MEMORY,
            ..Amounts::NONE
        },
        duration: Some(duration),
        bytes: 0,
    }
}

/// This end's half of a running load. Dropping it ends it.
pub struct QuicLoad {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<QuicOutcome>>,
}

struct Shared {
    stop: Stop,
    bytes: AtomicU64,
}

impl QuicLoad {
    /// Starts this end's half on a connected socket.
    ///
    /// # Errors
    /// The host lacks a thread or memory for the socket.
    pub fn start(socket: UdpSocket, side: Side, config: Config) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            stop: Stop::new(config.lease.clone()),
            bytes: AtomicU64::new(0),
        });
        let told = shared.clone();
        let drive = drive::Drive::new(socket, side, config)?;
        let thread = Some(spawn_with("quic", STACK, move || drive.run(&told))?);
        Ok(Self { shared, thread })
    }

    /// Bytes so far: of the sender all it gave to the network, of the receiver its payload.
    pub fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// Ends the half and says what it saw.
    pub fn finish(mut self) -> QuicOutcome {
        self.end()
    }

    fn end(&mut self) -> QuicOutcome {
        self.shared.stop.set();
        let joined = self.thread.take().map(JoinHandle::join);
        joined.and_then(Result::ok).unwrap_or_default()
    }

    #[cfg(test)]
    fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for QuicLoad {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests;
