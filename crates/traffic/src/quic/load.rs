//! Half of a QUIC load at one end.

use std::{
    io,
    net::UdpSocket,
    sync::{Arc, atomic::Ordering},
    thread::JoinHandle,
    time::Duration,
};

use super::{Config, Handshake, drive, samples, settings, shared::Shared};
use crate::{
    admission::{Amounts, Need},
    load::Stop,
    spawn_with,
    wire::message::QuicOutcome,
};

/// Stack of the thread: TLS needs more than other halves.
const STACK: usize = 512 << 10;

/// Memory of a load, bytes: the kernel's buffers, the flow control window of the library, and the
/// samples.
const MEMORY: u64 =
    (drive::RECEIVE_BUFFER + drive::SEND_BUFFER) as u64 + settings::WINDOW as u64 + samples::MEMORY;

/// Resources that the lease of a load must cover.
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

impl QuicLoad {
    /// Starts this end's half on a connected socket.
    ///
    /// # Errors
    /// The host lacks a thread or memory for the socket.
    pub fn start(socket: UdpSocket, handshake: Handshake, config: Config) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(Stop::new(config.lease.clone())));
        let running = shared.clone();
        let drive = drive::Drive::new(socket, handshake, config)?;
        let thread = Some(spawn_with("quic", STACK, move || drive.run(&running))?);
        Ok(Self { shared, thread })
    }

    /// Bytes so far: of the sender all passed to the network, of the receiver its payload.
    pub fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// Ends the half and returns its counts.
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
