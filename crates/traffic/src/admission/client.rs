//! Shared budget of all leases of one client.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use super::{
    account::{Account, Held},
    bytes::Budget,
    meter::Meter,
};

/// Maximum bytes per session of replies larger than their requests; a PMTU search needs far less.
pub(super) const LARGE_ANSWERS: u64 = 8 << 20;

#[derive(Debug)]
pub(super) struct Client {
    pub(super) time: Option<Duration>,
    pub(super) bytes: Budget,
    pub(super) large: Budget,
    pub(super) account: Arc<Account>,
    pub(super) meters: Meters,
    pub(super) ended: AtomicBool,
    pub(super) _held: Option<Held>,
}

#[derive(Debug)]
pub(super) struct Meters {
    pub(super) sent: [Meter; 2],
    pub(super) received: [Meter; 2],
}
