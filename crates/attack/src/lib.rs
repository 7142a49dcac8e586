//! Attacks on a running pathtwin, each with the bound it must not break.
//!
//! A [`Case`] starts the real program, attacks it over real sockets, files or
//! documents, and is judged by what anybody can see from outside: threads, descriptors and
//! resident memory in `/proc`, bytes that reached an address, and a legitimate client beside it.
//! The program is a parameter, so that the same attacks can be run against another build. For
//! development only: no user's build has it.

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
mod usual;

pub use case::{Case, Seen, Target, Trouble, Verdict};
