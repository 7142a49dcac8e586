//! Configuration of a server.

use traffic::{admission::Admission, load::udp::Spacing, wire::Key};

/// Limits of a server, and its keys.
#[derive(Clone, Debug)]
pub struct Config {
    /// The key that clients must hold.
    pub key: Key,
    /// Limits of clients, each and together; other protocols of this program may share it.
    pub admission: Admission,
    /// Version of the program, sent to clients.
    pub program: String,
    /// Pacing of the datagrams it sends.
    pub spacing: Spacing,
}
