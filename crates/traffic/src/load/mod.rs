//! Loads between two ends that know each other only by the protocol: each end runs its half on
//! sockets that it is given, looks at them, and says what it saw.

pub mod answers;
pub mod ask;
pub mod budget;
pub mod count;
pub mod echo;
pub mod http;
pub mod looks;
pub mod probe;
pub mod short;
mod stride;
pub mod tcp;
pub mod udp;
