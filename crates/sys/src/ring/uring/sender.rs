//! Datagrams at fixed intervals.

use std::{
    io,
    net::UdpSocket,
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use io_uring::{IoUring, squeue::Entry};

use super::{Lent, Timer, run, send};
use crate::clock::Instant;

/// Sends datagrams of one socket, one each time its timer expires.
pub struct TimedSender {
    held: Lent<Held>,
    /// Most datagrams of a call.
    most: usize,
}

struct Held {
    ring: IoUring,
    socket: OwnedFd,
    timer: Timer,
    datagrams: Vec<Vec<u8>>,
    requests: Vec<Entry>,
}

impl std::fmt::Debug for TimedSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("TimedSender");
        shown.field("most", &self.most).finish_non_exhaustive()
    }
}

impl TimedSender {
    /// Prepares to send up to `most` datagrams a call over a connected socket: the first at
    /// `first`, then one each `every`. Times that pass while a datagram waits for room in the
    /// socket's buffer are lost; [`restart`](Self::restart) sets the next one.
    ///
    /// # Errors
    /// The kernel has no io_uring, or it is disabled (`kernel.io_uring_disabled`), or memory or
    /// descriptors are lacking.
    pub fn new(
        socket: &UdpSocket,
        most: usize,
        first: Instant,
        every: Duration,
    ) -> io::Result<Self> {
        let most = most.max(1);
        let timer = Timer::new()?;
        timer.set(first, every)?;
        let held = Held {
            ring: IoUring::new(u32::try_from(2 * most).unwrap_or(u32::MAX))?,
            socket: OwnedFd::from(socket.try_clone()?),
            timer,
            datagrams: vec![Vec::new(); most],
            requests: Vec::with_capacity(2 * most),
        };
        let held = Lent::new(held);
        Ok(Self { held, most })
    }

    /// Sets the time of the next datagram, and of those after it.
    ///
    /// # Errors
    /// The sender has failed.
    pub fn restart(&mut self, first: Instant, every: Duration) -> io::Result<()> {
        self.held.get()?.timer.set(first, every)
    }

    /// Sends each datagram as the timer expires, and returns the number sent when the last one is:
    /// a refused one is left out.
    ///
    /// # Errors
    /// All were refused, as by [`send_batch`](crate::socket::send_batch); or the kernel took no
    /// requests, and never will.
    pub fn send(&mut self, datagrams: &[impl AsRef<[u8]>]) -> io::Result<usize> {
        let datagrams = &datagrams[..datagrams.len().min(self.most)];
        let (mut sent, mut refused) = (0, None);
        self.held.with(|held| {
            held.send(datagrams, |result| match result {
                0.. => sent += 1,
                code => {
                    refused.get_or_insert(io::Error::from_raw_os_error(-code));
                }
            })
        })?;
        match refused {
            Some(error) if sent == 0 => Err(error),
            _ => Ok(sent),
        }
    }
}

impl Held {
    fn send(
        &mut self,
        datagrams: &[impl AsRef<[u8]>],
        mut each: impl FnMut(i32),
    ) -> io::Result<()> {
        let count = datagrams.len();
        for (own, datagram) in self.datagrams.iter_mut().zip(datagrams) {
            own.clear();
            own.extend_from_slice(datagram.as_ref());
        }
        for datagram in &self.datagrams[..count] {
            self.requests.push(self.timer.expiry());
            self.requests
                .push(send(self.socket.as_fd(), datagram).user_data(1));
        }
        // SAFETY: datagrams, timer and descriptors belong to `self`, which changes none of them
        // before all sends have completed, and is never freed if that fails. Each send is linked
        // after its timer.
        unsafe { run(&mut self.ring, &mut self.requests, |_, result| each(result)) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::socket;

    fn pair() -> (UdpSocket, UdpSocket) {
        let [near, far] = [0; 2].map(|_| socket::udp("127.0.0.1:0".parse().unwrap()).unwrap());
        near.connect(far.local_addr().unwrap()).unwrap();
        far.connect(near.local_addr().unwrap()).unwrap();
        far.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        (near, far)
    }

    /// No datagram leaves before its time, and all of them arrive in order. Where io_uring is
    /// disabled, nothing is tested.
    #[test]
    fn datagrams_leave_at_their_times() {
        let (near, far) = pair();
        let every = Duration::from_millis(10);
        let start = Instant::now();
        let mut sender = match TimedSender::new(&near, 4, start, every) {
            Ok(sender) => sender,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let receiver = std::thread::spawn(move || {
            let mut byte = [0];
            [0; 6].map(|_| {
                far.recv(&mut byte).unwrap();
                (byte[0], Instant::now())
            })
        });
        let datagrams: Vec<[u8; 1]> = (0..4).map(|i| [i]).collect();
        assert_eq!(sender.send(&datagrams).unwrap(), 4);
        sender.restart(start.after(every * 8), every).unwrap();
        assert_eq!(sender.send(&[[8], [9]]).unwrap(), 2);
        for (number, at) in receiver.join().unwrap() {
            assert!(at >= start.after(every * u32::from(number)), "{number}");
        }
    }

    #[test]
    fn a_refused_datagram_does_not_hold_up_the_others() {
        let (near, far) = pair();
        let every = Duration::from_millis(1);
        let mut sender = match TimedSender::new(&near, 3, Instant::now(), every) {
            Ok(sender) => sender,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        // The middle one is more than a datagram may have.
        let datagrams = [vec![1], vec![0; 65_508], vec![3]];
        assert_eq!(sender.send(&datagrams).unwrap(), 2);
        let mut bytes = [0; 10];
        for expected in [1, 3] {
            assert_eq!(far.recv(&mut bytes).unwrap(), 1);
            assert_eq!(bytes[0], expected);
        }
        assert!(sender.send(&[vec![0; 65_508]]).is_err());
        assert_eq!(sender.send(&[vec![7]]).unwrap(), 1);
    }
}
