//! Events of a server.

use std::{net::SocketAddr, sync::Arc};

use traffic::wire::{ChannelError, message::Order};

use super::rejected::Rejected;

/// Event on a server, for its log.
#[derive(Debug)]
pub enum Event {
    /// A client connected.
    Connected(SocketAddr),
    /// It requested this load or service.
    Ordered(SocketAddr, Order),
    /// It disconnected, or was disconnected because of this.
    Disconnected(SocketAddr, Option<ChannelError>),
    /// A client was rejected for this reason.
    Rejected(SocketAddr, Rejected),
}

/// Takes the events of a server; called from several threads.
pub type Log = Arc<dyn Fn(Event) + Send + Sync>;
