//! In place of QUIC where it is left out: the same names, and nothing can be started.

use std::{convert::Infallible, io, net::UdpSocket, time::Duration};

use sys::clock::Instant;

use crate::admission::{Lease, Need};
use crate::wire::{PublicKey, message::QuicOutcome};

/// Whether QUIC is there.
pub const AVAILABLE: bool = false;

/// A key, of which there is none.
#[derive(Debug)]
pub struct Identity(Infallible);

impl Identity {
    /// Says that there is no QUIC.
    pub fn generate() -> io::Result<Self> {
        Err(unsupported())
    }

    /// The half that the peer is told.
    pub fn public_key(&self) -> PublicKey {
        match self.0 {}
    }
}

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

/// What a lease of a load would have been asked for.
pub fn need(duration: Duration) -> Need {
    Need {
        duration: Some(duration),
        ..Need::default()
    }
}

/// A load, of which there is none.
pub struct QuicLoad(Infallible);

impl QuicLoad {
    /// Says that there is no QUIC.
    pub fn start(_socket: UdpSocket, _side: Side, _config: Config) -> io::Result<Self> {
        Err(unsupported())
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        match self.0 {}
    }

    /// Ends it.
    pub fn finish(self) -> QuicOutcome {
        match self.0 {}
    }
}

fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "built without QUIC")
}
