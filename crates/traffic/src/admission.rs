//! Admission: the one way to open a load, and the one place that knows what loads may use.
//!
//! Whatever a server lets others use, it has a finite amount of: sessions, loads, connections,
//! threads, descriptors, memory, bit/s and bytes. Each amount is bounded at four levels, and every
//! use counts at all of them:
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
//!   streams of iperf3) takes one to start, asks it before it sends and tells it what it has
//!   received. There is no other way to make one than [`Session::lease`] and, for what the user of
//!   this host has asked for, [`Lease::own`].
//! - [`Hold`] is a part of a lease that comes and goes, such as a connection of a service.
//!
//! All of it is given back when the last copy of a lease or hold is dropped, which is when the
//! threads of its load have ended and its sockets are closed: loads stop when they are dropped.
//!
//! **Bytes** are payload as it was sent and as it was received, whatever was agreed on. A sender
//! takes them before it sends ([`Lease::take`]), so that no more than the limit is ever sent; what
//! was received is charged afterwards, and the load ends when it was too much.
//!
//! **Rate** is metered for each direction, over all loads of a session, and over the whole server.
//! A sender pauses for as long as the meter says; a receiver of TCP or QUIC does not read for as
//! long, so that the peer has to slow down. What arrives by UDP cannot be slowed down: its rate is
//! agreed on beforehand, counted against the limit, and bytes beyond what was agreed on end it.
//!
//! **Time** is a property of the lease: a load asks for its duration, and ends [`GRACE`] after it
//! whatever its peer does.

mod account;
mod bytes;
mod limits;
mod meter;
mod network;

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sys::clock::Instant;

pub use account::{Amounts, Refused, Resource, Scope};
pub use bytes::Spent;
pub use limits::Totals;

use crate::wire::message::Limits;
use account::{Account, Held};
use bytes::Budget;
use meter::Meter;
use network::Networks;

/// How long after its time a load may still go on: its peer starts later by the time that a message
/// takes, and what is on its way then is still to be counted.
pub const GRACE: Duration = Duration::from_secs(1);

/// Answers to datagrams that ask for larger ones, in one session, bytes; a search for a path's MTU
/// needs far less.
const LARGE_ANSWERS: u64 = 8 << 20;

/// What a load asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// What it holds from its start to its end.
    pub amounts: Amounts,
    /// How long it is to last; absent = until its session ends, as a service does.
    pub duration: Option<Duration>,
    /// Bytes that it is known to move.
    pub bytes: u64,
}

/// What a server admits, in all and of each client.
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

    /// What one client is allowed.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Whether a client at this address would be admitted now.
    ///
    /// # Errors
    /// Why not.
    pub fn would_admit(&self, peer: IpAddr) -> Result<(), Refused> {
        self.account(peer).take(SESSION).map(drop)
    }

    /// Admits a client until what is returned is dropped, and the leases under it are.
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

    /// What is held now, of all clients together.
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

/// What a session itself holds: the thread and the connection of its control.
const SESSION: Amounts = Amounts {
    sessions: 1,
    threads: 1,
    descriptors: 1,
    ..Amounts::NONE
};

/// One client. When it is dropped, its loads end.
#[derive(Debug)]
pub struct Session(Arc<Client>);

#[derive(Debug)]
struct Client {
    time: Option<Duration>,
    bytes: Budget,
    large: Budget,
    account: Arc<Account>,
    meters: Meters,
    ended: AtomicBool,
    _held: Option<Held>,
}

#[derive(Debug)]
struct Meters {
    sent: [Meter; 2],
    received: [Meter; 2],
}

impl Session {
    /// Admits a load.
    ///
    /// # Errors
    /// It would pass a limit; nothing is held then.
    pub fn lease(&self, need: &Need) -> Result<Lease, Refused> {
        let client = &self.0;
        if let (Some(asked), Some(most)) = (need.duration, client.time)
            && asked > most
        {
            return Err(Refused::Time { most });
        }
        match client.bytes.left() {
            Some(0) => return Err(Refused::Bytes),
            Some(left) if need.bytes > left => return Err(Refused::MoreBytes { left }),
            _ => {}
        }
        let held = client.account.take(need.amounts)?;
        Ok(Lease(Arc::new(Leased {
            client: client.clone(),
            duration: need.duration.unwrap_or(Duration::MAX),
            _held: held,
        })))
    }

    /// Bytes that its loads may still move; absent = without bound.
    pub fn bytes_left(&self) -> Option<u64> {
        self.0.bytes.left()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Relaxed);
    }
}

/// One load: what it holds, and what it draws from. Copies are of the same one.
#[derive(Clone, Debug)]
pub struct Lease(Arc<Leased>);

#[derive(Debug)]
struct Leased {
    client: Arc<Client>,
    duration: Duration,
    _held: Held,
}

impl Lease {
    /// For a load that the user of this host wants, who is bounded by nothing but the wish to send
    /// and receive no more than `bytes`, and no faster than `rate_bps` in each direction.
    pub fn own(duration: Duration, bytes: Option<u64>, rate_bps: Option<u64>) -> Self {
        let account = Account::new(Scope::Session, Amounts::ALL, None);
        let meter = || [Meter::new(rate_bps), Meter::new(None)];
        let client = Client {
            time: None,
            bytes: Budget::new(bytes),
            large: Budget::new(None),
            meters: Meters {
                sent: meter(),
                received: meter(),
            },
            ended: AtomicBool::new(false),
            _held: None,
            account: account.clone(),
        };
        Self(Arc::new(Leased {
            client: Arc::new(client),
            duration,
            _held: Held::nothing(account),
        }))
    }

    /// How long the load is to last.
    pub fn duration(&self) -> Duration {
        self.0.duration
    }

    /// When a load that has started at `zero` is over at the latest.
    pub fn deadline(&self, zero: Instant) -> Instant {
        zero.after(self.0.duration.saturating_add(GRACE))
    }

    /// Whether its session has ended, and it must.
    pub fn is_over(&self) -> bool {
        self.0.client.ended.load(Ordering::Relaxed)
    }

    /// Bytes that its session may still move; absent = without bound.
    pub fn bytes_left(&self) -> Option<u64> {
        self.0.client.bytes.left()
    }

    /// Whether bytes or rate are bounded at all.
    pub fn is_metered(&self) -> bool {
        let Client { bytes, meters, .. } = &*self.0.client;
        let all = meters.sent.iter().chain(&meters.received);
        bytes.left().is_some() || all.into_iter().any(|m| m.rate_bps().is_some())
    }

    /// The lowest bound of the rate in one direction, bit/s; absent = none.
    pub fn rate_bps(&self) -> Option<u64> {
        let meters = &self.0.client.meters.sent;
        meters.iter().filter_map(Meter::rate_bps).min()
    }

    /// How much to move in one call at most, so that a rate is kept evenly.
    pub fn chunk(&self, most: usize) -> usize {
        self.rate_bps()
            .map_or(most, |bps| most.min(meter::chunk(bps)))
    }

    /// Takes up to `most` bytes to be sent now; tell [`sent`](Self::sent) how many were.
    ///
    /// # Errors
    /// Nothing is left of the session's bytes.
    pub fn take(&self, most: usize) -> Result<usize, Spent> {
        let bytes = self.0.client.bytes.take_up_to(self.chunk(most) as u64)?;
        Ok(bytes as usize)
    }

    /// Takes whole datagrams of `size` bytes, `most` of them or fewer; says how many.
    ///
    /// # Errors
    /// Not one more may be sent.
    pub fn take_datagrams(&self, size: usize, most: usize) -> Result<usize, Spent> {
        let most = (self.chunk(size.saturating_mul(most)) / size.max(1)).clamp(1, most.max(1));
        let budget = &self.0.client.bytes;
        let wanted = (most * size) as u64;
        let got = budget.take_up_to(wanted)?;
        let whole = got / size.max(1) as u64;
        budget.give_back(got - whole * size as u64);
        if whole == 0 && size > 0 {
            return Err(Spent);
        }
        Ok(whole as usize)
    }

    /// Of `taken` bytes, `sent` were sent. Says until when nothing more may be, if not now.
    pub fn sent(&self, taken: usize, sent: usize) -> Option<Instant> {
        let client = &self.0.client;
        client.bytes.give_back(taken.saturating_sub(sent) as u64);
        Meter::charge(&client.meters.sent, sent as u64)
    }

    /// So many bytes have arrived. Says until when no more should be read, if not now.
    ///
    /// # Errors
    /// They are more than may be received; the load must end.
    pub fn received(&self, bytes: u64) -> Result<Option<Instant>, Spent> {
        let client = &self.0.client;
        client.bytes.spend(bytes)?;
        Ok(Meter::charge(&client.meters.received, bytes))
    }

    /// Whether an answer of `bytes` may be sent now to a datagram of `asked` bytes; if so, it is
    /// charged. What is longer than its question draws from a budget of its own as well.
    pub fn may_answer(&self, asked: usize, bytes: usize) -> bool {
        let client = &self.0.client;
        let bytes = bytes as u64;
        if Meter::is_behind(&client.meters.sent) {
            return false;
        }
        if bytes > asked as u64 && client.large.reserve(bytes).is_err() {
            return false;
        }
        if client.bytes.reserve(bytes).is_err() {
            return false;
        }
        let _ = Meter::charge(&client.meters.sent, bytes);
        true
    }

    /// Holds more for this load.
    ///
    /// # Errors
    /// A limit is reached.
    pub fn hold(&self, amounts: Amounts) -> Result<Hold, Refused> {
        let held = self.0.client.account.take(amounts)?;
        Ok(Hold {
            _lease: self.clone(),
            held,
        })
    }

    /// Holds so many bytes of memory, or as many as there are if that is less.
    pub fn hold_memory(&self, bytes: u64) -> Hold {
        Hold {
            held: self.0.client.account.take_memory(bytes),
            _lease: self.clone(),
        }
    }
}

/// Something that a load holds for a while.
#[derive(Debug)]
pub struct Hold {
    held: Held,
    _lease: Lease,
}

impl Hold {
    /// What is held.
    pub fn amounts(&self) -> Amounts {
        self.held.amounts()
    }
}

#[cfg(test)]
mod tests;
