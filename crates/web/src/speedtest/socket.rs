//! A WebSocket on the server's side of a load.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use crate::{
    Connection,
    frame::{self, Head, Kind},
};

/// Longest text of a client that is taken: a measurement of ndt7.
const TEXT: u64 = 64 << 10;
/// Time to end in order.
const ENDING: Duration = Duration::from_secs(1);

/// Message from a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// Payload of a load follows: this many bytes.
    Load(u64),
    /// A short message of bytes or text.
    Short(Vec<u8>),
    /// Nothing yet.
    Nothing,
    /// The end.
    End,
}

/// A WebSocket.
pub(super) struct Socket<'a> {
    pub(super) stream: &'a mut TcpStream,
    ahead: &'a mut Vec<u8>,
    /// True after the close frame; nothing may follow it (RFC 6455, 5.5.1).
    closed: bool,
}

impl<'a> Socket<'a> {
    /// Confirms a handshake.
    pub(super) fn open(connection: &'a mut Connection, handshake: &str) -> io::Result<Self> {
        connection.stream.write_all(handshake.as_bytes())?;
        Ok(Self {
            stream: &mut connection.stream,
            ahead: &mut connection.ahead,
            closed: false,
        })
    }

    /// Sends a message, unless the close frame was sent.
    pub(super) fn send(&mut self, kind: Kind, payload: &[u8]) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        self.closed = kind == Kind::Close;
        self.stream.write_all(&frame::message(kind, payload))
    }

    /// Reads the next head, and the payload of a short message; waits as long as the stream's
    /// timeout. `short`: messages up to this length are read as a whole.
    pub(super) fn next(&mut self, short: u64) -> io::Result<Came> {
        let bad = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let (head, length) = loop {
            if let Some(found) = Head::parse(self.ahead).map_err(bad)? {
                break found;
            }
            match self.more() {
                Ok(0) => return Ok(Came::End),
                Ok(_) => {}
                Err(error) if is_timeout(&error) => return Ok(Came::Nothing),
                Err(error) => return Err(error),
            }
        };
        self.ahead.drain(..length);
        match head.kind {
            Kind::Binary | Kind::Continuation if head.length > short => Ok(Came::Load(head.length)),
            Kind::Binary | Kind::Continuation => Ok(Came::Short(self.payload(&head)?)),
            Kind::Text if head.length > TEXT => Err(bad(frame::BadFrame)),
            Kind::Text => Ok(Came::Short(self.payload(&head)?)),
            Kind::Ping => {
                let payload = self.payload(&head)?;
                self.send(Kind::Pong, &payload)?;
                Ok(Came::Nothing)
            }
            Kind::Pong => {
                self.payload(&head)?;
                Ok(Came::Nothing)
            }
            Kind::Close => {
                let payload = self.payload(&head)?;
                self.send(Kind::Close, payload.get(..2).unwrap_or_default())?;
                Ok(Came::End)
            }
        }
    }

    /// Skips payload of a load: bytes read ahead, then arriving ones. Returns how much; 0 = the
    /// client has ended.
    pub(super) fn skip(&mut self, most: usize) -> io::Result<usize> {
        if !self.ahead.is_empty() {
            let n = most.min(self.ahead.len());
            self.ahead.drain(..n);
            return Ok(n);
        }
        sys::socket::discard(self.stream, most)
    }

    /// Sends a close frame, and waits a little for the client's, so that no sent data is lost by a
    /// reset.
    pub(super) fn close(mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        self.stream.set_write_timeout(Some(ENDING))?;
        self.send(Kind::Close, &1000_u16.to_be_bytes())?;
        self.stream.set_read_timeout(Some(ENDING))?;
        let until = Instant::now() + ENDING;
        while Instant::now() < until {
            match self.next(0)? {
                Came::End | Came::Nothing => break,
                Came::Load(mut left) => {
                    while left > 0 && Instant::now() < until {
                        let n = self.skip(left.min(1 << 16) as usize)?;
                        if n == 0 {
                            return Ok(());
                        }
                        left -= n as u64;
                    }
                }
                Came::Short(_) => {}
            }
        }
        Ok(())
    }

    fn payload(&mut self, head: &Head) -> io::Result<Vec<u8>> {
        let length = head.length as usize;
        while self.ahead.len() < length {
            if self.more()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let mut payload: Vec<u8> = self.ahead.drain(..length).collect();
        frame::mask(&mut payload, head.mask);
        Ok(payload)
    }

    fn more(&mut self) -> io::Result<usize> {
        let mut piece = [0; 4096];
        let n = self.stream.read(&mut piece)?;
        self.ahead.extend_from_slice(&piece[..n]);
        Ok(n)
    }
}

/// Returns true if nothing was received within the stream's timeout.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
