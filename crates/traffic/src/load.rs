//! Loads between two ends that know each other only by the protocol: each end runs its half on
//! sockets that it is given, samples them, and says what it saw.
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
pub mod udp;

pub(crate) use stop::Stop;
