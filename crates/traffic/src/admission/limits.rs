//! Limits of each level.

use super::account::Amounts;
use crate::wire::message::Limits;

/// Limits of all clients of a server together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Sessions.
    pub sessions: u64,
    /// TCP connections of loads.
    pub connections: u64,
    /// Threads.
    pub threads: u64,
    /// File descriptors.
    pub descriptors: u64,
    /// Memory for samples and buffers, the kernel's included, bytes.
    pub memory: u64,
    /// Rate in each direction, bit/s; absent = without bound.
    pub rate_bps: Option<u64>,
}

impl Default for Totals {
    /// Eight sessions, and their needs on a host with 4096 descriptors for them.
    fn default() -> Self {
        Self {
            sessions: 8,
            connections: 1024,
            threads: 1536,
            descriptors: 3072,
            memory: 512 << 20,
            rate_bps: None,
        }
    }
}

/// Maximum concurrent loads and services of one session.
const LOADS: u64 = 32;

/// Memory of a server at least, bytes: half of it is enough for any one load.
const MIN_MEMORY: u64 = 96 << 20;

/// Memory of one session, bytes: its samples, and the buffers of a datagram load.
const MEMORY: u64 = 80 << 20;

impl Totals {
    /// Limits for this number of sessions and of descriptors of the process. A quarter of the
    /// descriptors is for clients that have not proved yet that they hold the key.
    pub fn of(sessions: usize, descriptors: u64, rate_bps: Option<u64>) -> Self {
        Self {
            sessions: sessions.max(1) as u64,
            descriptors: descriptors / 4 * 3,
            rate_bps,
            ..Self::default()
        }
    }

    /// For this many sessions on this host: with the descriptors that this process may have, and
    /// its memory.
    pub fn of_this_host(sessions: usize, rate_bps: Option<u64>) -> Self {
        let memory = std::fs::read_to_string("/proc/meminfo").ok();
        let memory = memory.and_then(|text| sys::procfs::memory_bytes(&text));
        Self::of(sessions, sys::descriptors::allowed(), rate_bps).on_host_of(memory)
    }

    /// On a host with this much memory, bytes: a quarter of it, if that is less than usual.
    #[must_use]
    pub fn on_host_of(self, memory: Option<u64>) -> Self {
        let quarter = memory.map_or(u64::MAX, |bytes| bytes / 4);
        Self {
            memory: self.memory.min(quarter.max(MIN_MEMORY)),
            ..self
        }
    }

    pub(super) fn server(&self) -> Amounts {
        Amounts {
            sessions: self.sessions,
            loads: self.sessions.saturating_mul(LOADS),
            connections: self.connections,
            threads: self.threads,
            descriptors: self.descriptors,
            memory: self.memory,
            send_bps: self.rate_bps.unwrap_or(u64::MAX),
            receive_bps: self.rate_bps.unwrap_or(u64::MAX),
        }
    }

    /// Limits of a network: three quarters of everything. Only the agreed part of the rate is
    /// reserved for datagrams: everything else shares it on use.
    pub(super) fn network(&self) -> Amounts {
        self.part(3, 4)
    }

    /// Limits of an address: half of everything.
    pub(super) fn address(&self) -> Amounts {
        self.part(1, 2)
    }

    /// A server for a single client reserves nothing for others.
    fn part(&self, of: u64, all: u64) -> Amounts {
        if self.sessions <= 1 {
            return self.server();
        }
        let part = |n: u64| (n / all * of + n % all * of / all).max(1);
        self.server().map(part)
    }

    /// Limits of a session: a load with all its connections in each direction, and its other
    /// traffic.
    pub(super) fn session(&self, limits: &Limits) -> Amounts {
        let connections = 2 * u64::from(limits.flows);
        Amounts {
            sessions: 1,
            loads: LOADS,
            connections,
            threads: connections + 2 * LOADS,
            // A connection that sends has a pipe of two ends.
            descriptors: 3 * connections + 4 * LOADS,
            memory: MEMORY,
            send_bps: limits.rate_bps.unwrap_or(u64::MAX),
            receive_bps: limits.rate_bps.unwrap_or(u64::MAX),
        }
    }
}
