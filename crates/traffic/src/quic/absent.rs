//! Substitute for QUIC in a build without it: no load can be started.

use std::{convert::Infallible, io, net::UdpSocket, time::Duration};

use model::text;

use super::{Config, Handshake};
use crate::{
    admission::Need,
    wire::{PublicKey, message::QuicOutcome},
};

/// Placeholder for a key.
#[derive(Clone, Debug)]
pub struct Identity(Infallible);

impl Identity {
    /// Fails: there are no keys without QUIC.
    ///
    /// # Errors
    /// Always: the program is built without QUIC.
    pub fn generate() -> io::Result<Self> {
        Err(unsupported())
    }

    /// The public half of the key.
    pub fn public_key(&self) -> PublicKey {
        match self.0 {}
    }
}

/// Resources that the lease of a load would have to cover.
pub fn need(duration: Duration) -> Need {
    Need {
        duration: Some(duration),
        ..Need::default()
    }
}

/// A load, which cannot exist without QUIC.
pub struct QuicLoad(Infallible);

impl QuicLoad {
    /// Fails to start a load.
    ///
    /// # Errors
    /// Always: the program is built without QUIC.
    pub fn start(_socket: UdpSocket, _handshake: Handshake, _config: Config) -> io::Result<Self> {
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
    io::Error::new(
        io::ErrorKind::Unsupported,
        text!("this program was built without QUIC"),
    )
}
