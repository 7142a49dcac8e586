//! The protocol of iperf3: against the program itself, against itself, and against peers that
//! break it.

#![allow(clippy::expect_used, clippy::unwrap_used, unreachable_pub)]

mod bench;
mod format;
mod limits;
mod own;
mod program;
mod rude;
mod rude_server;
