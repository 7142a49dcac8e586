//! Observed connections.

use sys::sock_diag::{Owner, TcpSocket};

use super::sample::Sample;

/// One connection, with its samples so far.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) samples: Vec<Sample>,
    /// The latest sample's socket.
    pub(super) last: TcpSocket,
    pub(super) owner: Option<Owner>,
}
