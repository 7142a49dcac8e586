//! Framing of the control connection: a cookie, then single bytes of state and JSON texts with
//! their length in front.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    os::fd::AsFd,
    time::Duration,
};

use serde_json::Value;
use sys::clock::Instant;

pub use super::state::State;
use super::{Error, ProtocolError};

/// The port of a server, for control and data, TCP and UDP.
pub const PORT: u16 = 5201;
/// Bytes of a cookie: 36 characters and a zero.
pub const COOKIE_LEN: usize = 37;
/// Longest parameters that a server reads, bytes (the limit of iperf 3.18 and newer).
pub const MAX_PARAMS: usize = 8192;
/// Longest results that are read, bytes: 128 streams in each direction and the output of a server.
pub const MAX_RESULTS: usize = 1 << 20;

/// Longest silence in the middle of a message, and longest time for a message to be taken.
const IDLE: Duration = Duration::from_secs(10);

/// Identifier shared by all connections of a test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cookie([u8; COOKIE_LEN]);

impl Cookie {
    /// A cookie of 36 random bytes, of which 5 bits each are used.
    pub fn new(random: [u8; COOKIE_LEN - 1]) -> Self {
        const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let mut bytes = [0; COOKIE_LEN];
        for (byte, random) in bytes.iter_mut().zip(random) {
            *byte = LETTERS[usize::from(random % 32)];
        }
        Self(bytes)
    }

    /// Parses a client's cookie; `None` if it does not end like a cookie, as with some other
    /// protocol.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; COOKIE_LEN] = bytes.try_into().ok()?;
        bytes.ends_with(&[0]).then_some(Self(bytes))
    }

    /// The bytes on the wire.
    pub fn bytes(&self) -> &[u8; COOKIE_LEN] {
        &self.0
    }
}

/// A message that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A state without further data.
    State(State),
    /// The server could not continue.
    ServerError {
        /// Number of the error (`enum` in src/iperf_api.h).
        code: i32,
        /// `errno` with it; absent if the server closed before sending it, as 3.12 does when it
        /// refuses credentials.
        errno: Option<i32>,
    },
}

/// Reads a state, and the numbers that come with an error.
///
/// # Errors
/// The connection failed or was closed, or the byte is not a state.
pub fn read_message(reader: &mut impl Read) -> Result<Message, Error> {
    let mut byte = [0];
    read_exact(reader, &mut byte)?;
    let state = State::from_byte(byte[0]).ok_or(ProtocolError::State(byte[0].cast_signed()))?;
    if state != State::ServerError {
        return Ok(Message::State(state));
    }
    let mut number = [0; 4];
    read_exact(reader, &mut number)?;
    let code = i32::from_be_bytes(number);
    let errno = read_exact(reader, &mut number).ok();
    Ok(Message::ServerError {
        code,
        errno: errno.map(|()| i32::from_be_bytes(number)),
    })
}

/// Reads a JSON text of at most `limit` bytes. Nothing is allocated for a longer one.
///
/// # Errors
/// The connection failed or was closed, or the text is too long or not JSON.
pub fn read_json(reader: &mut impl Read, limit: usize) -> Result<Value, Error> {
    let mut length = [0; 4];
    read_exact(reader, &mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > limit {
        return Err(ProtocolError::TooLong { length, limit }.into());
    }
    let mut text = vec![0; length];
    read_exact(reader, &mut text)?;
    serde_json::from_slice(&text).map_err(|e| ProtocolError::from(e).into())
}

/// A JSON text as sent on the wire.
pub fn frame(value: &Value) -> Vec<u8> {
    let text = value.to_string();
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes
}

fn read_exact(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), Error> {
    reader.read_exact(bytes).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => Error::Ended,
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Error::Silent,
        _ => Error::Control(e),
    })
}

/// The control connection of one test.
#[derive(Debug)]
pub(super) struct Control {
    stream: TcpStream,
}

impl Control {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(IDLE))?;
        Ok(Self { stream })
    }

    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.stream.write_all(bytes).map_err(Error::Control)
    }

    pub(super) fn send_state(&mut self, state: State) -> Result<(), Error> {
        self.send(&[state.byte()])
    }

    pub(super) fn send_json(&mut self, value: &Value) -> Result<(), Error> {
        self.send(&frame(value))
    }

    pub(super) fn send_error(&mut self, code: i32) -> Result<(), Error> {
        let mut bytes = vec![State::ServerError.byte()];
        bytes.extend(code.to_be_bytes());
        bytes.extend(0_i32.to_be_bytes());
        self.send(&bytes)
    }

    /// Waits up to `limit` for data to read; returns true if there is any.
    pub(super) fn ready(&self, limit: Duration) -> Result<bool, Error> {
        let ready = sys::wait::readable(&[self.stream.as_fd()], limit).map_err(Error::Control)?;
        Ok(ready.contains(&true))
    }

    pub(super) fn message(&mut self, limit: Duration) -> Result<Message, Error> {
        read_message(&mut self.until(limit))
    }

    /// Waits for the state `wanted`; another one is an error.
    pub(super) fn expect(&mut self, wanted: State, limit: Duration) -> Result<(), Error> {
        match self.message(limit)? {
            Message::State(state) if state == wanted => Ok(()),
            other => Err(Error::unexpected(other)),
        }
    }

    pub(super) fn json(&mut self, limit: usize, time: Duration) -> Result<Value, Error> {
        read_json(&mut self.until(time), limit)
    }

    fn until(&self, limit: Duration) -> Until<'_> {
        Until {
            stream: &self.stream,
            end: Instant::now().after(limit),
        }
    }
}

/// Reads with a limit on the whole, so that a peer cannot stretch a message byte by byte.
struct Until<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = u64::try_from(self.end.since(Instant::now())).unwrap_or(0);
        if left == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream
            .set_read_timeout(Some(Duration::from_nanos(left.max(1000))))?;
        self.stream.read(bytes)
    }
}

impl Error {
    /// The error of a message that the protocol does not allow at this point.
    pub(crate) fn unexpected(message: Message) -> Self {
        match message {
            Message::ServerError { code, errno } => Self::Server { code, errno },
            Message::State(State::AccessDenied) => Self::Busy,
            Message::State(State::ServerTerminate | State::ClientTerminate) => Self::Terminated,
            Message::State(state) => ProtocolError::Undue(state).into(),
        }
    }
}
