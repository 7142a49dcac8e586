//! QUIC as a load: one stream that always has something to send, over a socket whose address is
//! proved.
//!
//! The protocol is quinn-proto, which does no I/O and takes the time as an argument; a thread of
//! blocking calls drives it, so that it runs in a lab guest as well. Congestion control, loss
//! recovery and pacing are the library's, and what is measured is that library.

mod drive;
mod identity;
mod looks;
mod provider;
mod session;

use std::{
    io,
    net::UdpSocket,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::clock::Instant;

pub use identity::Identity;

use crate::{
    load::budget::Budget,
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
pub struct Terms {
    /// Whether this end sends.
    pub sends: bool,
    /// When it starts: zero of all times.
    pub zero: Instant,
    /// How long the sender sends.
    pub duration: Duration,
    /// From one look to the next.
    pub look: Duration,
    /// Highest rate of the sender, bit/s, if there is one.
    pub rate_bps: Option<u64>,
    /// Bytes to send or take at most.
    pub budget: Budget,
}

/// This end's half of a running load.
pub struct QuicLoad {
    shared: Arc<Shared>,
    thread: JoinHandle<QuicOutcome>,
}

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    bytes: AtomicU64,
}

impl QuicLoad {
    /// Starts this end's half on a connected socket.
    pub fn start(socket: UdpSocket, side: Side, terms: Terms) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let told = shared.clone();
        let drive = drive::Drive::new(socket, side, terms)?;
        let thread = spawn_with("quic", STACK, move || drive.run(&told))?;
        Ok(Self { shared, thread })
    }

    /// Bytes so far: of the sender all it gave to the network, of the receiver its payload.
    pub fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// Ends the half and says what it saw.
    pub fn finish(self) -> QuicOutcome {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
