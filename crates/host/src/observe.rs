//! Limits of the live TCP connections of a host: an [`Observation`] computed from several lists of
//! its sockets, without sending anything.
//!
//! The kernel counts from the start of a connection, so every figure is a difference between the
//! first and the last list with a connection.

mod connection;
mod figures;
mod live;
mod moved;
mod sample;
mod verdict;

use std::collections::BTreeMap;

use model::observation::{Filter, OBSERVATION_SCHEMA, Observation, ObservedSocket, Verdict};
use sys::sock_diag::{Owner, TcpSocket};

use connection::Connection;
use sample::Sample;

pub use live::{Config, End, ObserveError, Observer, OnList};
pub use verdict::{
    BUSY_AT_LEAST, CWND_AT_LEAST, MIN_OBSERVED_US, MIN_SAMPLES, MOSTLY, PACING_AT_LEAST,
    SENT_AT_LEAST, WINDOW_OVER,
};

/// The connections so far.
#[derive(Debug, Default)]
pub struct Watch {
    filter: Filter,
    /// Times of the lists that count, µs.
    dumps: Vec<u64>,
    /// By the kernel's cookie, since addresses and ports are reused.
    connections: BTreeMap<u64, Connection>,
}

impl Watch {
    /// A watch for the connections that `filter` admits.
    pub fn new(filter: Filter) -> Self {
        Self {
            filter,
            ..Self::default()
        }
    }

    /// Adds a list of sockets taken at `at_us`, on any monotonic clock. `owner` is called once for
    /// each connection, with its inode.
    pub fn add(
        &mut self,
        at_us: u64,
        sockets: Vec<TcpSocket>,
        mut owner: impl FnMut(u32) -> Option<Owner>,
    ) {
        self.dumps.push(at_us);
        let admitted = |s: &TcpSocket| self.filter.admits(s.local, s.remote);
        for socket in sockets.into_iter().filter(admitted) {
            let Some(sample) = Sample::of(at_us, &socket) else {
                continue;
            };
            let connection = self
                .connections
                .entry(socket.cookie)
                .or_insert_with(|| Connection {
                    samples: Vec::new(),
                    owner: socket.inode.and_then(&mut owner),
                    last: socket.clone(),
                });
            // A socket that moves within the kernel's table during the list may be listed twice.
            if connection.samples.last().is_none_or(|s| s.at_us < at_us) {
                connection.samples.push(sample);
                connection.last = socket;
            }
        }
    }

    /// Removes the samples before `at_us`, and the connections without one since.
    pub fn forget_before(&mut self, at_us: u64) {
        self.dumps.retain(|&t| t >= at_us);
        for connection in self.connections.values_mut() {
            connection.samples.retain(|s| s.at_us >= at_us);
        }
        self.connections.retain(|_, c| !c.samples.is_empty());
    }

    /// The observation: the most limited and then the fastest connections first, and only the first
    /// `top`.
    pub fn observation(&self, top: Option<usize>) -> Observation {
        let end = self.dumps.last().copied().unwrap_or(0);
        let start = self.dumps.first().copied().unwrap_or(0);
        let connections = self.connections.values();
        let mut sockets: Vec<ObservedSocket> =
            connections.map(|c| figures::socket(c, end)).collect();
        sockets.sort_by(|a, b| rank(a).cmp(&rank(b)).then(speed(b).total_cmp(&speed(a))));
        let shown = top.unwrap_or(usize::MAX).min(sockets.len());
        let left_out = sockets.split_off(shown).len();
        Observation {
            schema: OBSERVATION_SCHEMA,
            kernel: None,
            filter: self.filter,
            dumps: self.dumps.len(),
            observed_us: end.saturating_sub(start),
            cut_short: false,
            left_out,
            sockets,
        }
    }
}

/// Connections with a limit on the path come first, then those that wait for their own application,
/// then those without a verdict.
fn rank(socket: &ObservedSocket) -> u8 {
    match socket.verdict {
        Verdict::ReceiveWindow
        | Verdict::SendBuffer
        | Verdict::LossOrPath
        | Verdict::PacingLimit
        | Verdict::NotRead => 0,
        Verdict::Application => 1,
        Verdict::ReceivingOnly => 2,
        Verdict::CannotTell => 3,
        Verdict::Idle => 4,
    }
}

/// Bit/s in both directions together.
fn speed(socket: &ObservedSocket) -> f64 {
    socket.goodput_out_bps.unwrap_or(0.0) + socket.goodput_in_bps.unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
