//! Server of the far end, for clients with its key.
//!
//! One thread takes new connections (the gate), one for each UDP socket proves addresses, and each
//! client that has proved to hold the key gets one more, and one for each connection of its loads.
//! The cost of a client, and of all clients together, is limited in one place:
//! [`traffic::admission`].

mod agreement;
mod config;
mod copies;
mod event;
mod gate;
pub mod log;
mod pending;
mod ports;
mod reached;
mod refused;
mod registry;
mod rejected;
mod session;
mod shared;
mod slot;
mod udp;

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

pub use config::Config;
pub use event::{Event, Log};
pub use reached::target;
pub use rejected::Rejected;

use registry::Registry;
use shared::Shared;

/// A server whose sockets are bound: privileges may be dropped before [`Server::run`].
pub struct Server {
    config: Arc<Config>,
    listeners: Vec<TcpListener>,
    sockets: Vec<UdpSocket>,
}

impl Server {
    /// Binds one TCP and one UDP socket of the same number to each address.
    ///
    /// # Errors
    ///
    /// An address cannot be bound: it is not an address of this host, or its port is in use.
    pub fn bind(addresses: &[SocketAddr], config: Config) -> io::Result<Self> {
        let mut listeners = Vec::new();
        let mut sockets = Vec::new();
        for address in addresses {
            let (listener, socket) = ports::bind(*address)?;
            listeners.push(listener);
            sockets.push(socket);
        }
        Ok(Self {
            config: Arc::new(config),
            listeners,
            sockets,
        })
    }

    /// Binds to `port` of every address of this host, where IPv6 may be missing.
    ///
    /// # Errors
    /// The port is in use, or needs a privilege.
    pub fn bind_all(port: u16, config: Config) -> io::Result<Self> {
        let (v4, v6) = (Ipv4Addr::UNSPECIFIED, Ipv6Addr::UNSPECIFIED);
        let [v4, v6] = [v4.into(), v6.into()].map(|ip: IpAddr| SocketAddr::new(ip, port));
        match Self::bind(&[v4, v6], config.clone()) {
            Err(e) if e.kind() != io::ErrorKind::AddrInUse => Self::bind(&[v4], config),
            result => result,
        }
    }

    /// The addresses it listens on.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners
            .iter()
            .filter_map(|l| l.local_addr().ok())
            .collect()
    }

    /// Serves until `stop` is set.
    ///
    /// # Errors
    ///
    /// The sockets failed, or no thread could be started.
    pub fn run(self, stop: Arc<AtomicBool>, log: Log) -> io::Result<()> {
        let shared = Arc::new(Shared {
            config: self.config,
            registry: Registry::default(),
            slot: slot::Slot::default(),
            stop,
            log,
        });
        let provers = self
            .sockets
            .into_iter()
            .map(|socket| udp::start(socket, shared.clone()))
            .collect::<io::Result<Vec<_>>>()?;
        let result = gate::run(&self.listeners, &shared);
        shared.stop.store(true, Ordering::Relaxed);
        for thread in provers {
            let _ = thread.join();
        }
        result
    }
}
