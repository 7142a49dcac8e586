//! Admission of loads, with accounts of their limits.
//!
//! Everything that a server provides to others is limited: sessions, loads, connections, threads,
//! descriptors, memory, bit/s and bytes. Each amount is bounded at four levels, and every use
//! counts at all of them:
//!
//! ```text
//! server  <-  network (/24, /56)  <-  address (/32, /64)  <-  session  <-  lease
//! ```
//!
//! - [`Admission`] is the server. All protocols of a program share one, so that a client gains
//!   nothing by speaking several.
//! - [`Session`] is one client for as long as it stays, made by [`Admission::admit`]. The bytes
//!   and the rate of all its loads together are bounded here.
//! - [`Lease`] is one load. Every load of this crate (TCP, UDP, QUIC, answers to requests, echoes,
//!   streams of iperf3) takes one to start, consults it before it sends and charges it for what it
//!   has received. There is no other way to make one than [`Session::lease`] and, for what the user
//!   of this host has asked for, [`Lease::own`].
//! - [`Hold`] is a part of a lease that comes and goes, such as a connection of a service.
//!
//! All of it is given back when the last copy of a lease or hold is dropped, which is when the
//! threads of its load have ended and its sockets are closed: loads stop when they are dropped.
//!
//! **Bytes** are payload sent and received, whatever was agreed on. A sender takes them before it
//! sends ([`Lease::take`]), so that no more than the limit is ever sent; received bytes are charged
//! afterwards, and the load ends when they exceed the limit.
//!
//! **Rate** is metered for each direction, over all loads of a session, and over the whole server.
//! A sender pauses until the meter allows more; a receiver of TCP or QUIC does not read for as
//! long, so that the peer has to slow down. UDP arrivals cannot be slowed down: their rate is
//! agreed on beforehand, counted against the limit, and bytes beyond the agreement end the load.
//!
//! **Time** is a property of the lease: a load requests its duration, and ends [`GRACE`] after it
//! whatever its peer does.

mod account;
mod bytes;
mod client;
mod lease;
mod limits;
mod meter;
mod network;
mod session;

use std::{
    net::IpAddr,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

pub use account::{Amounts, Refused, Resource, Scope};
pub use bytes::Spent;
pub use lease::{GRACE, Hold, Lease};
pub use limits::Totals;
pub use session::{Need, Session};

use crate::wire::message::Limits;
use account::Account;
use bytes::Budget;
use client::{Client, LARGE_ANSWERS, Meters};
use meter::Meter;
use network::Networks;

/// Limits of a server, in total and for each client.
#[derive(Clone, Debug)]
pub struct Admission(Arc<House>);

#[derive(Debug)]
struct House {
    limits: Limits,
    totals: Totals,
    server: Arc<Account>,
    networks: Networks,
    sent: Meter,
    received: Meter,
}

impl Admission {
    /// `limits`: of one session. `totals`: of all together.
    pub fn new(limits: Limits, totals: Totals) -> Self {
        Self(Arc::new(House {
            limits,
            totals,
            server: Account::new(Scope::Server, totals.server(), None),
            networks: Networks::default(),
            sent: Meter::new(totals.rate_bps),
            received: Meter::new(totals.rate_bps),
        }))
    }

    /// Limits of one client.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Checks whether a client at this address would be admitted now.
    ///
    /// # Errors
    /// Why not.
    pub fn would_admit(&self, peer: IpAddr) -> Result<(), Refused> {
        self.account(peer).take(SESSION).map(drop)
    }

    /// Admits a client until the returned value is dropped, and the leases under it are.
    ///
    /// # Errors
    /// The server, its network or its address has as many sessions as are allowed.
    pub fn admit(&self, peer: IpAddr) -> Result<Session, Refused> {
        let limits = &self.0.limits;
        let caps = self.0.totals.session(limits);
        let account = Account::new(Scope::Session, caps, Some(self.account(peer)));
        let held = account.take(SESSION)?;
        let meters = Meters {
            sent: [Meter::new(limits.rate_bps), self.0.sent.clone()],
            received: [Meter::new(limits.rate_bps), self.0.received.clone()],
        };
        Ok(Session(Arc::new(Client {
            time: limits
                .time_s
                .map(|s| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX)),
            bytes: Budget::new(limits.bytes),
            large: Budget::new(Some(LARGE_ANSWERS)),
            account,
            meters,
            ended: AtomicBool::new(false),
            _held: Some(held),
        })))
    }

    /// Resources held now by all clients together.
    pub fn held(&self) -> Amounts {
        self.0.server.held()
    }

    fn account(&self, peer: IpAddr) -> Arc<Account> {
        let House {
            totals,
            server,
            networks,
            ..
        } = &*self.0;
        networks.account(peer, totals, server)
    }
}

/// Resources of a session itself: the thread and the connection of its control.
const SESSION: Amounts = Amounts {
    sessions: 1,
    threads: 1,
    descriptors: 1,
    ..Amounts::NONE
};

#[cfg(test)]
mod tests;
