//! QUIC as a load: one stream that always has data to send, over a socket whose address is
//! validated.
//!
//! The protocol is quinn-proto, which does no I/O and takes the time as an argument; a thread of
//! blocking calls drives it, so that it also runs in a lab guest. Congestion control, loss recovery
//! and pacing are the library's, so the measurement is of that library.

#[cfg(not(feature = "quic"))]
mod absent;
#[cfg(feature = "quic")]
mod drive;
#[cfg(feature = "quic")]
mod identity;
#[cfg(feature = "quic")]
mod load;
#[cfg(feature = "quic")]
mod provider;
#[cfg(feature = "quic")]
mod samples;
#[cfg(feature = "quic")]
mod session;
#[cfg(feature = "quic")]
mod settings;
#[cfg(feature = "quic")]
mod shared;

use std::time::Duration;

use sys::clock::Instant;

#[cfg(not(feature = "quic"))]
pub use absent::{Identity, QuicLoad, need};
#[cfg(feature = "quic")]
pub use {
    identity::Identity,
    load::{QuicLoad, need},
    settings::LIBRARY,
};

use crate::{admission::Lease, wire::PublicKey};

/// True if this program was built with QUIC.
pub const AVAILABLE: bool = cfg!(feature = "quic");

/// Role of an end in the handshake.
#[derive(Debug)]
pub enum Handshake {
    /// It connects, to the end that has this key.
    Connect(PublicKey),
    /// It accepts, with a separate key.
    Accept(Identity),
}

/// Agreed parameters of a load.
#[derive(Clone, Debug)]
pub struct Config {
    /// True if this end sends.
    pub sends: bool,
    /// Start time, the zero of all times.
    pub zero: Instant,
    /// From one sample to the next.
    pub sample_interval: Duration,
    /// Sending time, and limits of both ends.
    pub lease: Lease,
}
