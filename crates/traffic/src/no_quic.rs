//! In place of QUIC where it is left out: the same names, and nothing can be started.

use std::{convert::Infallible, io, net::UdpSocket, time::Duration};

use sys::clock::Instant;

use crate::load::budget::Budget;
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

/// A load, of which there is none.
pub struct QuicLoad(Infallible);

impl QuicLoad {
    /// Says that there is no QUIC.
    pub fn start(_socket: UdpSocket, _side: Side, _terms: Terms) -> io::Result<Self> {
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
