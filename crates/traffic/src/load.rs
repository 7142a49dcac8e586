//! The traffic engine: loads, services and probes, each end's half on sockets that it is given.
//!
//! One engine serves two owners. `measure` runs each half on another host and lets it keep time: it
//! samples itself and ends with its lease. A cell of the lab runs both halves in one process,
//! samples and stops them itself, and each reading of the clock would cost it 256 ns of virtual
//! time (docs/limitations.md); halves that an owner drives therefore never read the clock.
//!
//! Every load takes a [`Lease`](crate::admission::Lease) and keeps to it. A load that is dropped
//! ends: its threads are joined and its sockets closed before `drop` returns.

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
