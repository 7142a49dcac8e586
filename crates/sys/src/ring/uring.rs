//! [`TimedSender`] by io_uring.
//!
//! Each datagram is a pair of linked requests: a read from a timer (timerfd_create(2)), which ends
//! when the timer expires, then the send (`IOSQE_IO_HARDLINK`, io_uring_enter(2)). The calling
//! thread sleeps in the kernel meanwhile. In virtual time this is exact to the nanosecond.
//! io_uring's own timeouts are no alternative: each wakes the thread (`io_should_wake`,
//! io_uring/io_uring.h, Linux 7.2).

use std::{
    io,
    net::UdpSocket,
    os::fd::{AsRawFd, OwnedFd},
    time::Duration,
};

use io_uring::{
    IoUring, opcode,
    squeue::{Entry, Flags},
    types::Fd,
};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::clock::Instant;

/// Mark of requests that send; those that read the timer have none.
const SEND: u64 = 1;

/// Sends datagrams of one socket, one each time its timer expires.
pub struct TimedSender {
    /// Absent after a failure that may have left requests in the kernel.
    held: Option<Box<Held>>,
    /// Most datagrams of a call.
    most: usize,
}

/// Memory and descriptors that the kernel uses until all requests have completed.
struct Held {
    ring: IoUring,
    socket: OwnedFd,
    timer: OwnedFd,
    /// Number of expirations, which nothing needs.
    expired: Box<[u8; 8]>,
    datagrams: Vec<Vec<u8>>,
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
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        set(&timer, first, every)?;
        let held = Held {
            ring: IoUring::new(u32::try_from(2 * most).unwrap_or(u32::MAX))?,
            socket: OwnedFd::from(socket.try_clone()?),
            timer,
            expired: Box::new([0; 8]),
            datagrams: vec![Vec::new(); most],
        };
        Ok(Self {
            held: Some(Box::new(held)),
            most,
        })
    }

    /// Sets the time of the next datagram, and of those after it.
    ///
    /// # Errors
    /// The sender has failed.
    pub fn restart(&mut self, first: Instant, every: Duration) -> io::Result<()> {
        let held = self.held.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        set(&held.timer, first, every)
    }

    /// Sends each datagram as the timer expires, and returns the number sent when the last one is:
    /// a refused one is left out.
    ///
    /// # Errors
    /// All were refused, as by [`send_batch`](crate::socket::send_batch); or the kernel took no
    /// requests, and never will.
    pub fn send(&mut self, datagrams: &[impl AsRef<[u8]>]) -> io::Result<usize> {
        let Some(mut held) = self.held.take() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        match held.send(&datagrams[..datagrams.len().min(self.most)]) {
            Ok(result) => {
                self.held = Some(held);
                result
            }
            // The kernel may still use its memory, so that this is never freed.
            Err(error) => {
                Box::leak(held);
                Err(error)
            }
        }
    }
}

impl Held {
    /// The outer error: requests may be left in the kernel.
    fn send(&mut self, datagrams: &[impl AsRef<[u8]>]) -> io::Result<io::Result<usize>> {
        let count = datagrams.len();
        for (own, datagram) in self.datagrams.iter_mut().zip(datagrams) {
            own.clear();
            own.extend_from_slice(datagram.as_ref());
        }
        let mut entries = Vec::with_capacity(2 * count);
        for i in 0..count {
            let (wait, send) = (self.expiry(), self.datagram(i));
            entries.push(wait.flags(Flags::IO_HARDLINK | Flags::SKIP_SUCCESS));
            entries.push(match i + 1 < count {
                true => send.flags(Flags::IO_HARDLINK),
                false => send,
            });
        }
        // SAFETY: datagrams, the buffer of the timer and both descriptors belong to `self`, which
        // changes none of them before all sends have completed, and is never freed if that fails.
        // Each send is linked after its read.
        unsafe { self.ring.submission().push_multiple(&entries) }.map_err(io::Error::other)?;
        self.complete(count)
    }

    /// A request that completes as the timer expires.
    fn expiry(&mut self) -> Entry {
        let timer = Fd(self.timer.as_raw_fd());
        opcode::Read::new(timer, self.expired.as_mut_ptr(), 8).build()
    }

    fn datagram(&self, index: usize) -> Entry {
        let bytes = &self.datagrams[index];
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let send = opcode::Send::new(Fd(self.socket.as_raw_fd()), bytes.as_ptr(), length);
        send.build().user_data(SEND)
    }

    /// Waits until `count` sends have completed, and returns the number of successful ones.
    fn complete(&mut self, count: usize) -> io::Result<io::Result<usize>> {
        let (mut done, mut sent, mut refused) = (0, 0, None);
        while done < count {
            match self.ring.submit_and_wait(count - done) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for completed in self.ring.completion().filter(|c| c.user_data() == SEND) {
                done += 1;
                match completed.result() {
                    0.. => sent += 1,
                    code => {
                        refused.get_or_insert(io::Error::from_raw_os_error(-code));
                    }
                }
            }
        }
        Ok(match refused {
            Some(error) if sent == 0 => Err(error),
            _ => Ok(sent),
        })
    }
}

/// Starts a timer anew; expirations so far are forgotten.
fn set(timer: &OwnedFd, first: Instant, every: Duration) -> io::Result<()> {
    let setting = Itimerspec {
        it_interval: timespec(every.as_nanos().max(1) as u64),
        it_value: timespec(first.0.max(1)),
    };
    timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &setting)?;
    Ok(())
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as _,
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
