//! Reads and writes with a minimum rate for the peer.
//!
//! A timeout per read or write is not sufficient: a peer that transfers a byte just before each
//! timeout could block a thread for days. So a whole message must be transferred at a minimum rate
//! that even the slowest lines reach.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::Duration,
};

use model::text;
use sys::clock::Instant;

/// Slowest pace, bytes per second.
const PACE: u64 = 1000;

/// Reading or writing of a message.
pub(super) struct Paced<'a> {
    stream: &'a TcpStream,
    timeout: Option<Duration>,
    /// Further time before the first byte.
    before: Duration,
    /// Time of the first byte.
    start: Option<Instant>,
    moved: u64,
}

impl<'a> Paced<'a> {
    /// The peer may be silent for `timeout` before the first byte, and fall behind the minimum rate
    /// by as much after it; `None` = unlimited.
    pub(super) fn new(stream: &'a TcpStream, timeout: Option<Duration>) -> Self {
        Self {
            stream,
            timeout,
            before: Duration::ZERO,
            start: None,
            moved: 0,
        }
    }

    /// The same for what follows after `sent` bytes to the peer, which this host's kernel may still
    /// have: the peer answers when it has them, at the minimum rate.
    pub(super) fn after(self, sent: u64) -> Self {
        let before = Duration::from_millis(sent * 1000 / PACE);
        Self { before, ..self }
    }

    /// Reads until `buffer` is full.
    pub(super) fn fill(&mut self, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            self.stream.set_read_timeout(self.left()?)?;
            let result = (&mut &*self.stream).read(buffer);
            buffer = &mut buffer[self.count(result)?..];
        }
        Ok(())
    }

    /// Writes all of `bytes`.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.set_write_timeout(self.left()?)?;
            let result = (&mut &*self.stream).write(bytes);
            bytes = &bytes[self.count(result)?..];
        }
        Ok(())
    }

    /// Returns the maximum wait of the next call.
    fn left(&self) -> io::Result<Option<Duration>> {
        let Some(timeout) = self.timeout else {
            return Ok(None);
        };
        let Some(start) = self.start else {
            return Ok(Some(timeout + self.before));
        };
        let allowed = timeout + Duration::from_millis(self.moved * 1000 / PACE);
        let spent = Instant::now().since(start).max(0);
        match allowed.checked_sub(Duration::from_nanos(spent as u64)) {
            // A write also counts bytes accepted only by this host's kernel as moved: regardless of
            // their number, no transfer may stall for longer than the timeout.
            Some(left) if !left.is_zero() => Ok(Some(left.min(timeout))),
            _ => Err(silent()),
        }
    }

    fn count(&mut self, result: io::Result<usize>) -> io::Result<usize> {
        match result {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                self.moved += n as u64;
                self.start.get_or_insert_with(Instant::now);
                Ok(n)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(0),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Err(silent()),
            Err(e) => Err(e),
        }
    }
}

fn silent() -> io::Error {
    io::Error::new(
        io::ErrorKind::TimedOut,
        text!("the peer was silent, or too slow, for too long"),
    )
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    const TIMEOUT: Option<Duration> = Some(Duration::from_millis(200));

    /// Each byte arrived before the timeout of its read ended, and the message never did.
    #[test]
    fn a_byte_now_and_then_does_not_hold_a_reader_for_ever() {
        let (near, mut far) = pair();
        let trickle = thread::spawn(move || {
            for _ in 0..1000 {
                if far.write_all(&[0]).is_err() {
                    return true;
                }
                thread::sleep(Duration::from_millis(20));
            }
            false
        });
        let error = Paced::new(&near, TIMEOUT).fill(&mut [0; 1000]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(near);
        assert!(trickle.join().unwrap(), "cut off");
    }

    #[test]
    fn a_slow_reader_does_not_block_a_writer_forever() {
        let (near, mut far) = pair();
        let trickle = thread::spawn(move || {
            let mut some = [0; 20];
            while far.read(&mut some).is_ok_and(|n| n > 0) {
                thread::sleep(Duration::from_millis(20));
            }
        });
        let mut writing = Paced::new(&near, TIMEOUT);
        let error = writing.write(&vec![0; 64 << 20]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(near);
        // It still reads the data in the kernel's buffer.
        drop(trickle);
    }

    /// Bug: 125 kB at 16 kbit/s were on their way for a minute, and the server that had sent them
    /// ended the session, since no request had come.
    #[test]
    fn a_peer_that_still_receives_a_long_message_may_be_silent_meanwhile() {
        let (near, mut far) = pair();
        let answer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(400));
            let _ = far.write_all(&[7]);
            far
        });
        let mut byte = [0];
        Paced::new(&near, TIMEOUT)
            .after(10_000)
            .fill(&mut byte)
            .unwrap();
        assert_eq!(byte, [7]);
        let error = Paced::new(&near, TIMEOUT).after(10).fill(&mut byte);
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(answer);
    }

    #[test]
    fn a_message_at_the_pace_is_read_however_long_it_takes() {
        let (near, mut far) = pair();
        thread::spawn(move || {
            for _ in 0..20 {
                thread::sleep(Duration::from_millis(25));
                let _ = far.write_all(&[7; 500]);
            }
        });
        let mut bytes = [0; 10_000];
        Paced::new(&near, TIMEOUT).fill(&mut bytes).unwrap();
        assert!(bytes.iter().all(|b| *b == 7));
    }
}
