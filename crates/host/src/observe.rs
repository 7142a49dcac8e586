//! What limits the live TCP connections of a host: lists of its sockets, taken one after the other,
//! become an [`Observation`]. Nothing is sent; whoever takes the lists says when they were taken.
//!
//! Counters of the kernel run from the start of a connection, so all that is said here is of
//! differences between the first and the last list in which a connection was seen.

mod figures;
mod moved;
mod sample;
mod verdict;

use std::collections::BTreeMap;

use model::observation::{Filter, OBSERVATION_SCHEMA, Observation, ObservedSocket, Verdict};
use sys::sock_diag::{Owner, TcpSocket};

use sample::Sample;

pub use verdict::{
    BUSY_AT_LEAST, CWND_AT_LEAST, MIN_OBSERVED_US, MIN_SAMPLES, MOSTLY, PACING_AT_LEAST,
    SENT_AT_LEAST, WINDOW_OVER,
};

/// One connection as it was seen so far.
#[derive(Debug)]
struct Connection {
    samples: Vec<Sample>,
    /// As it was last seen.
    last: TcpSocket,
    owner: Option<Owner>,
}

/// The connections seen so far.
#[derive(Debug, Default)]
pub struct Watch {
    filter: Filter,
    /// When the lists were taken that count, us.
    dumps: Vec<u64>,
    /// By the kernel's cookie: addresses and ports come back.
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

    /// Takes in a list of sockets that was taken at `at_us`, on any clock that only goes forward.
    /// `owner` is asked once for each connection who holds an inode.
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
            // A socket that changes its place while the kernel lists it may be listed twice.
            if connection.samples.last().is_none_or(|s| s.at_us < at_us) {
                connection.samples.push(sample);
                connection.last = socket;
            }
        }
    }

    /// Forgets what was seen before `at_us`, and the connections that were not seen since.
    pub fn forget_before(&mut self, at_us: u64) {
        self.dumps.retain(|&t| t >= at_us);
        for connection in self.connections.values_mut() {
            connection.samples.retain(|s| s.at_us >= at_us);
        }
        self.connections.retain(|_, c| !c.samples.is_empty());
    }

    /// What was seen, with what limits most and moves most first, and only the first `top`.
    pub fn observation(&self, top: Option<usize>) -> Observation {
        let end = self.dumps.last().copied().unwrap_or(0);
        let start = self.dumps.first().copied().unwrap_or(0);
        let connections = self.connections.values();
        let mut sockets: Vec<ObservedSocket> =
            connections.map(|c| figures::socket(c, end)).collect();
        sockets.sort_by(|a, b| rank(a).cmp(&rank(b)).then(moves(b).total_cmp(&moves(a))));
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

/// Connections that something on the way limits come first, then those that wait for their own
/// application, then those of which nothing can be said.
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
fn moves(socket: &ObservedSocket) -> f64 {
    socket.goodput_out_bps.unwrap_or(0.0) + socket.goodput_in_bps.unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
