//! Loads, services and probes: the half of each end, on given sockets.
//!
//! There are two users. `measure` runs each half on another host and lets it keep time: the half
//! takes its own samples and ends with its lease. A cell of the lab runs both halves in one
//! process, and samples and stops them itself; each reading of the clock would cost 256 ns of
//! virtual time (docs/limitations.md), so halves driven by their owner never read the clock.
//!
//! Every load takes a [`Lease`](crate::admission::Lease) and observes its limits. A load that is
//! dropped ends: its threads are joined and its sockets closed before `drop` returns.

mod connection;
pub mod count;
pub mod echo;
pub mod probe;
pub mod requests;
pub mod samples;
mod stop;
mod stride;
pub mod tcp;
pub mod transfer;
pub mod udp;

pub(crate) use stop::Stop;

/// Role of an end for the data of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It sends.
    Sender,
    /// It receives.
    Receiver,
}
