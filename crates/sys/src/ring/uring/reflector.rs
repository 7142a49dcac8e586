//! Datagrams returned to their sender.

use std::{
    io,
    net::UdpSocket,
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

use io_uring::{IoUring, opcode, squeue::Entry, types::Fd};

use super::{Lent, run, send};

/// Datagrams of a call.
const MANY: usize = 64;

/// Returns datagrams to the peer of a connected socket as they are.
pub struct Reflector {
    held: Lent<Held>,
}

struct Held {
    ring: IoUring,
    socket: OwnedFd,
    bytes: Vec<u8>,
    requests: Vec<Entry>,
}

impl std::fmt::Debug for Reflector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reflector").finish_non_exhaustive()
    }
}

impl Reflector {
    /// Prepares to return datagrams of `size` bytes; shorter and longer ones are returned with this
    /// size, too.
    ///
    /// # Errors
    /// The kernel has no io_uring, or it is disabled (`kernel.io_uring_disabled`), or memory or
    /// descriptors are lacking.
    pub fn new(socket: &UdpSocket, size: usize) -> io::Result<Self> {
        let held = Held {
            ring: IoUring::new(2 * MANY as u32)?,
            socket: OwnedFd::from(socket.try_clone()?),
            bytes: vec![0; size],
            requests: Vec::with_capacity(2 * MANY),
        };
        let held = Lent::new(held);
        Ok(Self { held })
    }

    /// Returns datagrams until 64 have come. An ICMP error for an earlier one counts, and
    /// returns the last one again.
    ///
    /// # Errors
    /// The kernel took no requests, and never will.
    pub fn serve(&mut self) -> io::Result<()> {
        self.held.with(Held::serve)
    }
}

impl Held {
    fn serve(&mut self) -> io::Result<()> {
        let size = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        for _ in 0..MANY {
            let socket = Fd(self.socket.as_raw_fd());
            self.requests
                .push(opcode::Recv::new(socket, self.bytes.as_mut_ptr(), size).build());
            self.requests
                .push(send(self.socket.as_fd(), &self.bytes).user_data(1));
        }
        // SAFETY: bytes and socket belong to `self`, which touches neither before all sends have
        // completed, and is never freed if that fails. One request at a time uses the bytes.
        unsafe { run(&mut self.ring, &mut self.requests, |_, _| {}) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use super::*;
    use crate::socket;

    /// More than one call returns. Where io_uring is disabled, nothing is tested.
    #[test]
    fn all_datagrams_are_returned_in_order() {
        let [near, far] = [0; 2].map(|_| socket::udp("127.0.0.1:0".parse().unwrap()).unwrap());
        near.connect(far.local_addr().unwrap()).unwrap();
        far.connect(near.local_addr().unwrap()).unwrap();
        near.set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut reflector = match Reflector::new(&far, 4) {
            Ok(reflector) => reflector,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let calls = std::thread::spawn(move || [0; 3].map(|_| reflector.serve().unwrap()));
        for number in 0..3 * MANY as u32 {
            near.send(&number.to_ne_bytes()).unwrap();
            let mut bytes = [0; 10];
            let length = near.recv(&mut bytes).unwrap();
            assert_eq!(bytes[..length], number.to_ne_bytes());
        }
        calls.join().unwrap();
    }
}
