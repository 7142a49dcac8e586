//! Zero-copy source of zeroes.
//!
//! `tee` and `splice` (tee(2), splice(2)) pass references to pages. A pipe that is filled once and
//! never emptied is teed into a pipe of the sender, which is spliced into the connection.
//! `sendfile` also splices, but looks up each page in its file first, which adds a third to the
//! cost of sending (Linux 6.18, `perf`).

use std::{
    fs::File,
    io::{self, Write},
    net::TcpStream,
    os::fd::OwnedFd,
    sync::Arc,
};

use rustix::{
    fs::{MemfdFlags, ftruncate, memfd_create},
    io::Errno,
    pipe::{
        PipeFlags, SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with, splice, tee,
    },
};

/// A pipe full of zeroes.
#[derive(Clone, Debug)]
pub struct Zeroes(Arc<Pipe>);

/// A sender's pipe, filled from [`Zeroes`].
#[derive(Debug)]
pub struct Outlet {
    zeroes: Zeroes,
    own: Pipe,
    /// Bytes in the sender's pipe.
    left: usize,
}

#[derive(Debug)]
struct Pipe {
    from: OwnedFd,
    to: OwnedFd,
    size: usize,
}

impl Pipe {
    /// A pipe of a size, or smaller by the host's limit: a user with many pipes gets pipes of two
    /// pages or one (pipe(7), `pipe-user-pages-soft`; fs/pipe.c of Linux 6.18, `alloc_pipe_info`).
    fn new(size: usize) -> io::Result<Self> {
        let (from, to) = pipe_with(PipeFlags::CLOEXEC)?;
        let size = match fcntl_setpipe_size(&from, size) {
            Ok(size) => size,
            Err(_) => fcntl_getpipe_size(&from)?,
        };
        Ok(Self { from, to, size })
    }
}

impl Zeroes {
    /// With the maximum size of one call, bytes.
    ///
    /// # Errors
    /// The process has no descriptors left, or the kernel no memory.
    pub fn new(bytes: usize) -> io::Result<Self> {
        // A hole takes no memory: the kernel uses a shared page of zeroes.
        let hole = memfd_create("zeroes", MemfdFlags::CLOEXEC)?;
        ftruncate(&hole, bytes as u64)?;
        Self::filled(&hole, bytes)
    }

    /// With other content than zeroes, for paths that compress data: it is sent repeatedly.
    ///
    /// # Errors
    /// The process has no descriptors left, or the kernel no memory.
    pub fn of(content: &[u8]) -> io::Result<Self> {
        let memory = File::from(memfd_create("content", MemfdFlags::CLOEXEC)?);
        (&memory).write_all(content)?;
        Self::filled(&OwnedFd::from(memory), content.len())
    }

    fn filled(memory: &OwnedFd, bytes: usize) -> io::Result<Self> {
        let pipe = Pipe::new(bytes)?;
        let mut at = 0;
        while (at as usize) < pipe.size.min(bytes) {
            let left = pipe.size.min(bytes) - at as usize;
            if splice(
                memory,
                Some(&mut at),
                &pipe.to,
                None,
                left,
                SpliceFlags::NONBLOCK,
            )? == 0
            {
                break;
            }
        }
        Ok(Self(Arc::new(pipe)))
    }

    /// An outlet for one sender.
    ///
    /// # Errors
    /// The process has no descriptors left.
    pub fn outlet(&self) -> io::Result<Outlet> {
        Ok(Outlet {
            zeroes: self.clone(),
            own: Pipe::new(self.0.size)?,
            left: 0,
        })
    }
}

impl Outlet {
    /// Sends up to `bytes` zeroes, and returns the number sent. Blocks like a write.
    ///
    /// # Errors
    /// As a write.
    pub fn send(&mut self, stream: &TcpStream, bytes: usize) -> io::Result<usize> {
        let again = |result| match result {
            Err(Errno::INTR) => Ok(0),
            result => result,
        };
        if self.left == 0 {
            let (from, to) = (&self.zeroes.0.from, &self.own.to);
            self.left = again(tee(from, to, bytes, SpliceFlags::NONBLOCK))?;
        }
        let wanted = self.left.min(bytes);
        let went = again(splice(
            &self.own.from,
            None,
            stream,
            None,
            wanted,
            SpliceFlags::empty(),
        ))?;
        self.left -= went;
        Ok(went)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::{
        io::Read,
        net::{Shutdown, TcpListener},
        thread,
    };

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn many_senders_take_all_they_want_and_all_of_it_is_zero() {
        const WANTED: usize = 3_000_001;
        let zeroes = Zeroes::new(1 << 20).unwrap();
        let flows: Vec<_> = (0..3)
            .map(|_| {
                let (near, mut far) = pair();
                let mut outlet = zeroes.outlet().unwrap();
                let sender = thread::spawn(move || {
                    let mut left = WANTED;
                    while left > 0 {
                        left -= outlet.send(&near, left).unwrap();
                    }
                });
                let mut came = Vec::new();
                let receiver = thread::spawn(move || {
                    far.read_to_end(&mut came).unwrap();
                    came
                });
                (sender, receiver)
            })
            .collect();
        for (sender, receiver) in flows {
            sender.join().unwrap();
            let came = receiver.join().unwrap();
            assert_eq!(came.len(), WANTED);
            assert!(came.iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn content_is_sent_repeatedly() {
        let content: Vec<u8> = (0..1 << 16).map(|at: u32| (at * 31 % 251) as u8).collect();
        let mut outlet = Zeroes::of(&content).unwrap().outlet().unwrap();
        let (near, mut far) = pair();
        let wanted = 3 * content.len();
        let receiver = thread::spawn(move || {
            let mut came = Vec::new();
            far.read_to_end(&mut came).unwrap();
            came
        });
        let mut left = wanted;
        while left > 0 {
            left -= outlet.send(&near, left).unwrap();
        }
        drop(near);
        let came = receiver.join().unwrap();
        assert!(came == content.repeat(3), "{} bytes", came.len());
    }

    #[test]
    fn a_sender_whose_connection_ends_is_reported() {
        let mut outlet = Zeroes::new(1 << 20).unwrap().outlet().unwrap();
        let (near, far) = pair();
        let blocked = near.try_clone().unwrap();
        let sender = thread::spawn(move || {
            loop {
                if let Err(error) = outlet.send(&blocked, 1 << 20) {
                    return error;
                }
            }
        });
        // Without a reader, it blocks soon.
        near.shutdown(Shutdown::Both).unwrap();
        assert_eq!(sender.join().unwrap().kind(), io::ErrorKind::BrokenPipe);
        drop(far);
    }
}
