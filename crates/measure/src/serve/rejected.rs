//! Reasons for which the server rejects a connection or a datagram.

use std::io;

use traffic::{admission, wire::ChannelError};

/// Reason why a server did not accept a connection, or could not serve an accepted one.
#[derive(Debug, thiserror::Error)]
pub enum Rejected {
    /// Too many clients, or too many of this address or network.
    #[error("{0}")]
    Limit(#[from] admission::Refused),
    /// The handshake failed, or the first request.
    #[error("{0}")]
    Channel(#[from] ChannelError),
    /// The greeting was seen before: it may be a replay.
    #[error("a copy of an earlier greeting")]
    Copy,
    /// A client of another version.
    #[error("another version of the protocol: both ends should run the same pathtwin")]
    Version,
    /// Not a client.
    #[error("another protocol")]
    Foreign,
    /// A data connection whose code does not belong to its token.
    #[error("a data connection that does not belong to its sender")]
    Overheard,
    /// A data connection for no load of this server.
    #[error("a data connection that no load waits for")]
    Unexpected,
    /// The host has no thread for its session.
    #[error("start a thread for its session: {0}")]
    Thread(io::Error),
    /// The host has no socket for its datagrams.
    #[error("open a socket for its datagrams: {0}")]
    Socket(io::Error),
}
