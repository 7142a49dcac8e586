//! Who waits for which connections and datagrams.

use std::{
    collections::HashMap,
    net::{TcpStream, UdpSocket},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use traffic::wire::Token;

/// Something that came in for an agreement.
pub(crate) enum Arrival {
    /// A data connection, with its number.
    Stream(u16, TcpStream),
    /// A UDP socket, connected to an address that is proved.
    Socket(UdpSocket),
}

/// What to do with an arrival.
pub(crate) type Taker = Arc<dyn Fn(Arrival) + Send + Sync>;

/// All agreements of all sessions that wait for something.
#[derive(Default)]
pub(crate) struct Registry(Mutex<HashMap<Token, Taker>>);

impl Registry {
    fn map(&self) -> MutexGuard<'_, HashMap<Token, Taker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, token: Token, taker: Taker) {
        self.map().insert(token, taker);
    }

    pub(crate) fn remove(&self, token: Token) {
        self.map().remove(&token);
    }

    pub(crate) fn find(&self, token: Token) -> Option<Taker> {
        self.map().get(&token).cloned()
    }
}
