//! The protocol of iperf3: against the iperf3 program, against this implementation, and against
//! peers that violate it.

#![allow(clippy::expect_used, clippy::unwrap_used, unreachable_pub)]

mod bench;
mod format;
mod limits;
mod own;
mod program;
mod rude;
mod rude_server;
