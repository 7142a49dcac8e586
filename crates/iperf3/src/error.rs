//! Errors of a test.

use std::{fmt, io, net::SocketAddr};

use model::{
    text,
    text::{Text, Value},
};

use crate::{ProtocolError, refused};

/// Reason why a test did not end as planned.
#[derive(Debug)]
pub enum Error {
    /// The server's name has no address.
    NoAddress,
    /// No connection to the server.
    Connect(SocketAddr, io::Error),
    /// The control connection failed.
    Control(io::Error),
    /// The peer closed the control connection.
    Ended,
    /// The peer did not send the expected message.
    Silent,
    /// No more bytes are transferred.
    Stuck,
    /// The peer broke the protocol.
    Protocol(ProtocolError),
    /// The server does another test.
    Busy,
    /// The server reported an error.
    Server {
        /// Its number (`enum` in src/iperf_api.h).
        code: i32,
        /// `errno` with it.
        errno: Option<i32>,
    },
    /// A thread of this program failed, which it never should.
    Panicked,
    /// The other end's operator ended the test.
    Terminated,
    /// This end's operator did.
    Stopped,
    /// As many bytes were moved as this end's operator allows.
    Spent,
    /// The server is to end a test that takes too long.
    Overdue(u64),
    /// The parameters cannot be met.
    Refused(refused::Refused),
    /// This end's kernel does not have, or does not allow, the requested congestion control.
    Congestion {
        /// The requested value.
        name: String,
        /// The kernel's error.
        why: io::Error,
    },
    /// A data stream could not be opened.
    Open {
        /// Number of the stream.
        id: u32,
        /// The kernel's error.
        why: io::Error,
    },
    /// A data stream failed.
    Stream {
        /// Number of the stream.
        id: u32,
        /// The kernel's error.
        why: io::Error,
    },
}

impl Error {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::NoAddress => text!("the iperf3 server has no address"),
            Self::Connect(address, error) => text!(
                "connect to the iperf3 server at {address}: {error}",
                address = *address,
                error = error
            ),
            Self::Control(error) => text!(
                "the iperf3 control connection failed: {error}",
                error = error
            ),
            Self::Ended => {
                text!("the other end closed the iperf3 control connection before the test was over")
            }
            Self::Silent => text!(
                "the other end of the iperf3 control connection does not answer; is the path still up?"
            ),
            Self::Stuck => text!(
                "nothing was transferred for a minute; the path may be down, or lose all full-sized packets"
            ),
            Self::Protocol(error) => text!(
                "the other end does not speak iperf3 as expected: {error}; is it iperf 3.1 or newer?",
                error = error.text()
            ),
            Self::Busy => {
                text!("the iperf3 server is busy with another test; try again when that is over")
            }
            Self::Server { code, .. } => text!(
                "the iperf3 server reports error {code} ({meaning})",
                code = Value::Count(f64::from(*code)),
                meaning = describe(*code)
            ),
            Self::Panicked => text!("the thread of the iperf3 test panicked; please report this"),
            Self::Terminated => text!("the other end was stopped before the iperf3 test was over"),
            Self::Spent => text!("the byte budget is used up"),
            Self::Stopped => text!("stopped before the iperf3 test was over"),
            Self::Overdue(seconds) => text!(
                "the iperf3 test was still running after {n} s",
                n = *seconds
            ),
            Self::Refused(why) => text!("refused: {why}", why = why.text()),
            Self::Congestion { name, why } => text!(
                "set congestion control {name}: {why}; net.ipv4.tcp_available_congestion_control lists those of this kernel, tcp_allowed_congestion_control those permitted to all users",
                name = name,
                why = why
            ),
            Self::Open { id, why } => {
                text!("open iperf3 data stream {id}: {why}", id = *id, why = why)
            }
            Self::Stream { id, why } => {
                text!("iperf3 data stream {id} failed: {why}", id = *id, why = why)
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Protocol(error) => Some(error),
            Self::Refused(why) => Some(why),
            Self::Connect(_, error) | Self::Control(error) => Some(error),
            Self::Congestion { why, .. } | Self::Open { why, .. } | Self::Stream { why, .. } => {
                Some(why)
            }
            _ => None,
        }
    }
}

impl From<ProtocolError> for Error {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

impl From<refused::Refused> for Error {
    fn from(why: refused::Refused) -> Self {
        Self::Refused(why)
    }
}

/// Meaning of a server's error number, as far as a client can get it.
fn describe(code: i32) -> Text {
    match code {
        5 | 37 => text!("the test would take longer than the server allows"),
        6 => text!("more streams than the server allows"),
        7 | 20 => text!("a block size that the server does not take"),
        8 => text!("a socket buffer that the server does not take"),
        12 => text!("more seconds to omit than the server allows"),
        13 | 18 => text!("the server does not have this protocol"),
        25 => text!("reverse and bidirectional exclude each other"),
        27 => text!("more rate than the server allows"),
        114 => text!("the server did not understand the parameters"),
        142 => text!("the server requires credentials"),
        160 => text!("the test ran longer than the server allows"),
        200..=207 => text!("a data stream failed at the server"),
        _ => text!("see iperf_api.h"),
    }
}
