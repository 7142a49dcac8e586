//! Loads and services of the far end: the order that opens each, and the outcome that ends it.

use std::{marker::PhantomData, ops::Deref};

use serde::de::DeserializeOwned;
use traffic::wire::{
    PublicKey, Ticket,
    message::{
        EchoOutcome, HttpOutcome, Order, QuicOutcome, ShortOutcome, TcpOrder, TcpOutcome, UdpOrder,
        UdpOutcome,
    },
};

use super::reply::Outcome;

/// A load or service of the far end. Its type ties the order to its one outcome.
pub trait Service {
    /// Its outcome at the far end.
    type Outcome: Outcome;
    /// The key that identifies the far end on a connection of the load, if it presents one.
    type Key: DeserializeOwned;

    /// Its order.
    fn order(&self) -> Order;
}

/// A load: unlike a service, it is started, and ends.
pub trait Load: Service {}

/// A load or service that the far end has agreed to.
pub struct Agreed<S: Service> {
    ticket: Ticket,
    /// The key that the far end will show.
    pub key: S::Key,
    service: PhantomData<fn() -> S>,
}

impl<S: Service> Agreed<S> {
    pub(super) fn new(ticket: Ticket, key: S::Key) -> Self {
        Self {
            ticket,
            key,
            service: PhantomData,
        }
    }
}

/// Secret by which connections and datagrams prove that they belong to it.
impl<S: Service> Deref for Agreed<S> {
    type Target = Ticket;

    fn deref(&self) -> &Ticket {
        &self.ticket
    }
}

impl Service for TcpOrder {
    type Outcome = TcpOutcome;
    type Key = Option<PublicKey>;

    fn order(&self) -> Order {
        Order::Tcp(self.clone())
    }
}

impl Load for TcpOrder {}

impl Service for UdpOrder {
    type Outcome = UdpOutcome;
    type Key = Option<PublicKey>;

    fn order(&self) -> Order {
        Order::Udp(*self)
    }
}

impl Load for UdpOrder {}

/// Bulk QUIC on a UDP socket.
#[derive(Clone, Copy, Debug)]
pub struct Quic {
    /// True if the far end sends.
    pub send: bool,
    /// Sending time after the start, µs.
    pub duration_us: u64,
    /// From one sample of the connection to the next, µs.
    pub sample_us: u64,
}

impl Service for Quic {
    type Outcome = QuicOutcome;
    type Key = PublicKey;

    fn order(&self) -> Order {
        Order::Quic {
            send: self.send,
            duration_us: self.duration_us,
            sample_us: self.sample_us,
        }
    }
}

impl Load for Quic {}

/// Replies to probes and to datagrams of any size.
#[derive(Clone, Copy, Debug)]
pub struct Echo;

impl Service for Echo {
    type Outcome = EchoOutcome;
    type Key = Option<PublicKey>;

    fn order(&self) -> Order {
        Order::Echo
    }
}

/// Responses to requests, one on each connection.
#[derive(Clone, Copy, Debug)]
pub struct Short {
    /// Bytes of a response.
    pub bytes: u64,
}

impl Service for Short {
    type Outcome = ShortOutcome;
    type Key = Option<PublicKey>;

    fn order(&self) -> Order {
        Order::Short { bytes: self.bytes }
    }
}

/// Responses to HTTP/1.1 requests.
#[derive(Clone, Copy, Debug)]
pub struct Http {
    /// Bytes of a response.
    pub bytes: u64,
}

impl Service for Http {
    type Outcome = HttpOutcome;
    type Key = Option<PublicKey>;

    fn order(&self) -> Order {
        Order::Http { bytes: self.bytes }
    }
}
