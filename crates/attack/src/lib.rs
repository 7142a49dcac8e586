//! Attack suite against a running pathtwin, with a bound for each attack.
//!
//! A [`Case`] starts the real program and attacks it over real sockets, files or documents. It is
//! judged from outside: by threads, descriptors and resident memory in `/proc`, bytes received by
//! an address, and the figures of a legitimate client. The program is a parameter, so that the same
//! attacks can be run against other builds. The suite is for development only and not part of a
//! user's build.

pub mod case;
pub mod cases;
pub mod client;
pub mod fuzz;
pub mod iperf3;
pub mod legitimate;
pub mod packets;
pub mod process;
pub mod runner;
pub mod served;
pub mod table;
mod trouble;
mod usual;

pub use case::{Case, Seen, Target, Verdict};
pub use trouble::Trouble;
