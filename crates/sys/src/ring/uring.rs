//! Chains of linked requests by io_uring (io_uring_enter(2)), in which each begins when the one
//! before has completed (`IOSQE_IO_HARDLINK`). The calling thread sleeps in the kernel until the
//! last one: one system call for all.
//!
//! A time is waited for by a read from a timer (timerfd_create(2)). In virtual time this is exact
//! to the nanosecond. io_uring's own timeouts are no alternative: each wakes the thread
//! (`io_should_wake`, io_uring/io_uring.h, Linux 7.2).

mod reader;
mod reflector;
mod sender;

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
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

pub use reader::TimedReader;
pub use reflector::Reflector;
pub use sender::TimedSender;

/// Memory and descriptors that the kernel uses until all requests have completed. Absent after a
/// failure that may have left requests in the kernel.
struct Lent<T>(Option<Box<T>>);

impl<T> Lent<T> {
    fn new(held: T) -> Self {
        Self(Some(Box::new(held)))
    }

    fn get(&self) -> io::Result<&T> {
        let held = self.0.as_deref();
        held.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    /// Calls `submit`, whose error means that requests may be left in the kernel.
    fn with<R>(&mut self, submit: impl FnOnce(&mut T) -> io::Result<R>) -> io::Result<R> {
        let Some(mut held) = self.0.take() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        match submit(&mut held) {
            Ok(result) => {
                self.0 = Some(held);
                Ok(result)
            }
            // The kernel may still use its memory, so that this is never freed.
            Err(error) => {
                Box::leak(held);
                Err(error)
            }
        }
    }
}

/// A timer that requests can wait for.
struct Timer {
    fd: OwnedFd,
    /// Number of expirations, which nothing needs.
    expired: Box<[u8; 8]>,
}

impl Timer {
    fn new() -> io::Result<Self> {
        Ok(Self {
            fd: timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?,
            expired: Box::new([0; 8]),
        })
    }

    /// Starts it anew; expirations so far are forgotten.
    fn set(&self, first: Instant, every: Duration) -> io::Result<()> {
        let setting = Itimerspec {
            it_interval: timespec(every.as_nanos().max(1) as u64),
            it_value: timespec(first.0.max(1)),
        };
        timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &setting)?;
        Ok(())
    }

    /// A request that completes as the timer expires.
    fn expiry(&mut self) -> Entry {
        let timer = Fd(self.fd.as_raw_fd());
        opcode::Read::new(timer, self.expired.as_mut_ptr(), 8).build()
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as _,
    }
}

/// A request that sends `bytes`.
fn send(fd: BorrowedFd<'_>, bytes: &[u8]) -> Entry {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    opcode::Send::new(Fd(fd.as_raw_fd()), bytes.as_ptr(), length).build()
}

/// Submits requests, each linked to the next, and waits until those with user data have completed;
/// `each` gets the user data and the result of each. None is left in `requests`, whose memory
/// serves again.
///
/// # Safety
/// What the requests point to must exist until then, and for ever if this fails.
unsafe fn run(
    ring: &mut IoUring,
    requests: &mut Vec<Entry>,
    mut each: impl FnMut(u64, i32),
) -> io::Result<()> {
    let (all, mut awaited) = (requests.len(), 0);
    for (number, request) in (1..).zip(requests.iter_mut()) {
        let reports = request.get_user_data() != 0;
        awaited += usize::from(reports);
        let mut flags = Flags::empty();
        flags.set(Flags::IO_HARDLINK, number < all);
        flags.set(Flags::SKIP_SUCCESS, !reports);
        *request = request.clone().flags(flags);
    }
    // SAFETY: as the caller grants.
    unsafe { ring.submission().push_multiple(requests) }.map_err(io::Error::other)?;
    requests.clear();
    while awaited > 0 {
        match ring.submit_and_wait(awaited) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for completed in ring.completion().filter(|c| c.user_data() != 0) {
            awaited -= 1;
            each(completed.user_data(), completed.result());
        }
    }
    Ok(())
}
