//! The protocol's part of the transfer loops ([`traffic::load::transfer`]).

mod counts;
mod load;
mod tcp;
mod udp;

use std::io;

pub(super) use {
    counts::Counts,
    load::{Load, Phase, WAIT},
    tcp::{receive_tcp, send_tcp},
    udp::{receive_udp, send_udp},
};

/// The call had no effect, and may succeed the next time.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
