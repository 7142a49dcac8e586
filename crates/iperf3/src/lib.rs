//! The protocol of iperf3, as client and as server.
//!
//! It has no written standard. The implementation follows the sources of iperf 3.1 to 3.22 and is
//! checked against running programs; `docs/reference/iperf3.md` describes it and names the
//! versions.
//!
//! A test has one TCP connection for control ([`wire`], [`params`], [`results`]) and data streams,
//! each with a thread of blocking calls. Only data after the server's announcement of the start is
//! counted. Goodput is computed from the receiver's bytes and time.

mod error;
mod halves;
mod limits;
mod number;
mod protocol;
mod session;
mod state;
mod streams;
mod usage;

pub mod arguments;
pub mod client;
pub mod datagram;
pub mod outcome;
pub mod params;
pub mod refused;
pub mod request;
pub mod results;
pub mod server;
pub mod servers;
pub mod wire;

pub use error::Error;
pub use protocol::ProtocolError;
pub use streams::Tally;

/// Number of the stream that was opened as `index`th, from 0: 1, then 3, 4, 5. The number 2 is left
/// out by every version of iperf3 (`iperf_add_stream`, src/iperf_api.c).
fn stream_id(index: usize) -> u32 {
    if index == 0 { 1 } else { index as u32 + 2 }
}

/// Bytes of a TCP write by default.
const TCP_LEN: u32 = 128 << 10;
/// Bytes of a datagram where the segment size of the path is not known.
const UDP_LEN: u32 = 1460;
