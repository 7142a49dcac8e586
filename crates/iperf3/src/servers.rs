//! Servers on several addresses, each in its own thread, next to another service.

use std::{
    io,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::atomic::AtomicBool,
};

use traffic::spawn;

use crate::server::{Config, Report, Server};

/// Bound servers that do not run yet.
#[derive(Debug)]
pub struct Servers(Vec<Server>);

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("listen on {address}: {source}")]
pub struct BindError {
    /// The address.
    address: SocketAddr,
    /// The I/O error.
    source: io::Error,
}

/// Event on one of the servers.
#[derive(Debug)]
pub enum Event {
    /// A test has ended.
    Ended(Box<Report>),
    /// No more connections can be accepted.
    Failed(io::Error),
}

impl Servers {
    /// Binds to a port of these addresses, or of every one if none is named.
    ///
    /// # Errors
    /// One of the addresses cannot be listened on.
    pub fn bind(listen: &[IpAddr], port: u16, config: &Config) -> Result<Self, BindError> {
        let every = [Ipv6Addr::UNSPECIFIED.into()];
        let listen = if listen.is_empty() { &every } else { listen };
        let bind = |ip: &IpAddr| {
            let address = SocketAddr::new(*ip, port);
            let bound = Server::bind(address, config.clone());
            bound.map_err(|source| BindError { address, source })
        };
        Ok(Self(listen.iter().map(bind).collect::<Result<_, _>>()?))
    }

    /// Returns the listen addresses.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.0.iter().map(Server::address).collect()
    }

    /// Serves until stopped, each server in its own thread.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(self, stop: &'static AtomicBool, on_event: fn(Event)) -> io::Result<()> {
        for server in self.0 {
            spawn("iperf3 server", move || {
                let mut on_report = |report| {
                    on_event(Event::Ended(Box::new(report)));
                    true
                };
                if let Err(error) = server.serve(stop, &mut on_report) {
                    on_event(Event::Failed(error));
                }
            })?;
        }
        Ok(())
    }
}
