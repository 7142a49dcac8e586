//! New connections that must succeed before and after a change.
//!
//! Established connections survive changes that break new ones: the MSS is fixed by the SYN, and a
//! socket keeps its congestion control. So each probe is a new connection.

use std::{
    io,
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

/// Longest time for one connection.
const LIMIT: Duration = Duration::from_secs(5);

/// Makes new connections.
pub trait Prober {
    /// Connects to `host:port` anew.
    ///
    /// # Errors
    /// No address of it accepts a connection in time.
    fn connect(&mut self, target: &str) -> io::Result<()>;
}

/// New TCP connections of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewTcp;

impl Prober for NewTcp {
    fn connect(&mut self, target: &str) -> io::Result<()> {
        let mut last = io::Error::other("it has no address");
        for address in target.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, LIMIT) {
                Ok(_) => return Ok(()),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}
