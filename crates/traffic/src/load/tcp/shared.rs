//! State of a half, shared by its threads.

use std::{
    os::fd::AsFd,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use model::text::Text;
use sys::{clock::Instant, tcp_info};

use crate::{
    admission::Lease,
    load::{Role, Stop, connection::Connection},
};

/// Component that times and samples a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drive {
    /// The load itself, with a thread that samples.
    Load,
    /// The owner: the load never reads the clock.
    Owner,
}

pub(super) struct Shared {
    pub(super) stop: Stop,
    role: Role,
    pub(super) drive: Drive,
    pub(super) zero: Instant,
    pub(super) connections: Vec<Arc<Connection>>,
    pub(super) bytes: AtomicU64,
    errors: Mutex<Vec<Text>>,
}

impl Shared {
    /// The state of a load that has not begun.
    pub(super) fn new(
        connections: Vec<Arc<Connection>>,
        role: Role,
        zero: Instant,
        lease: Lease,
        drive: Drive,
    ) -> Self {
        Self {
            stop: Stop::new(lease),
            role,
            drive,
            zero,
            connections,
            bytes: AtomicU64::new(0),
            errors: Mutex::default(),
        }
    }

    /// Ends all connections and the calls blocked on them. If the owner drives both halves, both
    /// end together, and queued data need not be discarded for the peer.
    pub(super) fn cut(&self) {
        self.stop.set();
        for connection in &self.connections {
            match self.drive {
                Drive::Load => connection.abort(),
                Drive::Owner => connection.shut(),
            }
        }
    }

    pub(super) fn errors(&self) -> MutexGuard<'_, Vec<Text>> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Unread data in the receive buffer counts as received.
    pub(super) fn charge_unread(&self) {
        let lease = self.stop.lease();
        if self.role != Role::Receiver || !lease.is_metered() {
            return;
        }
        for connection in &self.connections {
            let info = connection
                .stream()
                .and_then(|s| tcp_info::read(s.as_fd()).ok());
            let came = info.and_then(|info| info.bytes_received).unwrap_or(0);
            let read = connection.bytes.load(Ordering::Relaxed);
            let _ = lease.received(came.saturating_sub(read));
        }
    }

    /// Returns the end time of senders.
    pub(super) fn end(&self) -> Instant {
        self.zero.after(self.stop.lease().duration())
    }

    pub(super) fn add(&self, connection: &Connection, n: usize) {
        connection.bytes.fetch_add(n as u64, Ordering::Relaxed);
        self.bytes.fetch_add(n as u64, Ordering::Relaxed);
    }
}
