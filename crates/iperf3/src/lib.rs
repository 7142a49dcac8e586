//! The protocol of iperf3, as client and as server.
//!
//! It has no written standard. What is here follows the sources of iperf 3.1 to 3.22 and is checked
//! against running programs; `docs/reference/iperf3.md` describes it and names the versions.
//!
//! A test has one TCP connection for control ([`wire`], [`params`], [`results`]) and streams of
//! data, each a thread of blocking calls. Only what comes after the server has said that the test
//! runs is counted. Goodput is by the bytes and the time of the receiver.

use std::io;

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
pub mod request;
pub mod results;
pub mod server;
pub mod wire;

pub use protocol::ProtocolError;
pub use streams::Tally;

/// Why a test did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server's name has no address.
    #[error("the iperf3 server has no address")]
    NoAddress,
    /// No connection to the server.
    #[error("connect to the iperf3 server at {0}: {1}")]
    Connect(std::net::SocketAddr, io::Error),
    /// The control connection failed.
    #[error("the iperf3 control connection failed: {0}")]
    Control(io::Error),
    /// The peer closed the control connection.
    #[error("the other end closed the iperf3 control connection before the test was over")]
    Ended,
    /// The peer did not send what was due.
    #[error(
        "the other end of the iperf3 control connection does not answer; is the path still up?"
    )]
    Silent,
    /// No more bytes are transferred.
    #[error(
        "nothing was transferred for a minute; the path may be down, or lose all full-sized packets"
    )]
    Stuck,
    /// The peer broke the protocol.
    #[error("the other end does not speak iperf3 as expected: {0}; is it iperf 3.1 or newer?")]
    Protocol(#[from] ProtocolError),
    /// The server does another test.
    #[error("the iperf3 server is busy with another test; try again when that is over")]
    Busy,
    /// The server reported an error.
    #[error("the iperf3 server reports error {code} ({})", describe(*code))]
    Server {
        /// Its number (`enum` in src/iperf_api.h).
        code: i32,
        /// `errno` with it.
        errno: Option<i32>,
    },
    /// A thread of this program failed, which it never should.
    #[error("the thread of the iperf3 test panicked; please report this")]
    Panicked,
    /// The other end's operator ended the test.
    #[error("the other end was stopped before the iperf3 test was over")]
    Terminated,
    /// This end's operator did.
    #[error("stopped before the iperf3 test was over")]
    Stopped,
    /// The server is to end a test that takes too long.
    #[error("the iperf3 test was still running after {0} s")]
    Overdue(u64),
    /// The parameters cannot be met.
    #[error("refused: {0}")]
    Refused(#[from] params::Refused),
    /// This end's kernel does not have, or does not allow, the congestion control asked for.
    #[error(
        "set congestion control {name}: {why}; net.ipv4.tcp_available_congestion_control names what this kernel has, tcp_allowed what all may use"
    )]
    Congestion {
        /// What was asked for.
        name: String,
        /// What the kernel said.
        why: io::Error,
    },
    /// A data stream could not be opened.
    #[error("open iperf3 data stream {id}: {why}")]
    Open {
        /// Number of the stream.
        id: u32,
        /// What the kernel said.
        why: io::Error,
    },
    /// A data stream failed.
    #[error("iperf3 data stream {id} failed: {why}")]
    Stream {
        /// Number of the stream.
        id: u32,
        /// What the kernel said.
        why: io::Error,
    },
}

impl Error {
    fn unexpected(message: wire::Message) -> Self {
        use wire::{Message, State};
        match message {
            Message::ServerError { code, errno } => Self::Server { code, errno },
            Message::State(State::AccessDenied) => Self::Busy,
            Message::State(State::ServerTerminate | State::ClientTerminate) => Self::Terminated,
            Message::State(state) => ProtocolError::Undue(state).into(),
        }
    }
}

/// What a server's error number means, as far as a client can meet it.
fn describe(code: i32) -> &'static str {
    match code {
        5 | 37 => "the test would take longer than the server allows",
        6 => "more streams than the server allows",
        7 | 20 => "a block size that the server does not take",
        8 => "a socket buffer that the server does not take",
        12 => "more seconds to omit than the server allows",
        13 | 18 => "the server does not have this protocol",
        25 => "reverse and bidirectional exclude each other",
        27 => "more rate than the server allows",
        114 => "the server did not understand the parameters",
        142 => "the server wants credentials",
        160 => "the test ran longer than the server allows",
        200..=207 => "a data stream failed at the server",
        _ => "see iperf_api.h",
    }
}

/// Number of the stream that was opened as `index`th, from 0: 1, then 3, 4, 5. The number 2 is left
/// out by every version of iperf3 (`iperf_add_stream`, src/iperf_api.c).
fn stream_id(index: usize) -> u32 {
    if index == 0 { 1 } else { index as u32 + 2 }
}

/// Bytes of a TCP write by default.
const TCP_LEN: u32 = 128 << 10;
/// Bytes of a datagram where the segment size of the path is not known.
const UDP_LEN: u32 = 1460;
