//! Agreements that wait for connections and datagrams.

use std::{
    collections::HashMap,
    net::{TcpStream, UdpSocket},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use traffic::wire::{
    Ticket, Token,
    key::CODE,
    ticket::{Used, same},
};

/// A connection or socket that arrived for an agreement.
pub(crate) enum Arrival {
    /// A data connection, with its number.
    Stream(u32, TcpStream),
    /// A UDP socket, connected to an address that is proved.
    Socket(UdpSocket),
}

/// Takes an arrival.
pub(crate) type Taker = Arc<dyn Fn(Arrival) + Send + Sync>;

/// An agreement that waits for connections or datagrams.
pub(crate) struct Expected {
    ticket: Ticket,
    taker: Taker,
    used: Mutex<Used>,
}

impl Expected {
    /// Ticket that an arrival must prove to hold.
    pub(crate) fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Returns true if a connection with this number and code belongs to it. Each number is valid
    /// once, so that an eavesdropper on a greeting cannot use it.
    pub(crate) fn admits(&self, number: u32, code: &[u8; CODE]) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        same(code, &self.ticket.connection_code(number)) && used.take(number)
    }

    /// Hands over the connections and datagrams that have proved to belong to it.
    pub(crate) fn take(&self, arrival: Arrival) {
        (self.taker)(arrival);
    }
}

/// All agreements of all sessions that wait for connections or datagrams.
#[derive(Default)]
pub(crate) struct Registry(Mutex<HashMap<Token, Arc<Expected>>>);

impl Registry {
    fn map(&self) -> MutexGuard<'_, HashMap<Token, Arc<Expected>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, ticket: Ticket, taker: Taker) {
        let expected = Expected {
            ticket,
            taker,
            used: Mutex::default(),
        };
        self.map().insert(ticket.token, Arc::new(expected));
    }

    pub(crate) fn remove(&self, token: Token) {
        self.map().remove(&token);
    }

    pub(crate) fn find(&self, token: Token) -> Option<Arc<Expected>> {
        self.map().get(&token).cloned()
    }
}
