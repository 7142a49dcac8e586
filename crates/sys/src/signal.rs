//! SIGINT and SIGTERM as a flag, and waits that they end.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    time::Duration,
};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Becomes readable with a signal, and stays so.
static WAKE: OnceLock<OwnedFd> = OnceLock::new();
/// The same descriptor for the signal handler, which must not initialise anything; -1 = none.
static WAKE_FD: AtomicI32 = AtomicI32::new(-1);

extern "C" fn note(_signal: libc::c_int) {
    REQUESTED.store(true, Ordering::Relaxed);
    let fd = WAKE_FD.load(Ordering::Relaxed);
    if fd < 0 {
        return;
    }
    let one = 1u64.to_ne_bytes();
    // SAFETY: write(2) is allowed in a signal handler, the buffer lives, and the descriptor is
    // never closed. The interrupted code must not see another errno.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        libc::write(fd, one.as_ptr().cast(), one.len());
        *errno = before;
    }
}

/// Makes SIGINT and SIGTERM set the returned flag instead of terminating the process. A second
/// signal terminates it.
///
/// # Errors
/// The kernel refused a handler or a descriptor: `sigaction(2)`, `eventfd(2)`.
pub fn stop_flag() -> io::Result<&'static AtomicBool> {
    if WAKE.get().is_none() {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        WAKE_FD.store(WAKE.get_or_init(|| fd).as_raw_fd(), Ordering::Relaxed);
    }
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the struct is zeroed plain data, then given a handler that only stores to an
        // atomic and writes to a descriptor, which is allowed in a signal handler. SA_RESETHAND
        // restores the default.
        let rc = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as *const () as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
            libc::sigaction(signal, &action, std::ptr::null_mut())
        };
        if rc != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(&REQUESTED)
}

/// Sleeps until a signal has set the flag of [`stop_flag`], at most this long (`None` = without
/// limit; then [`stop_flag`] must have been called). It may return early.
///
/// It wakes the processor once, where naps until the flag is set do so many times a second.
pub fn sleep(most: Option<Duration>) {
    let timeout = most.map(|most| Timespec {
        tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: most.subsec_nanos().into(),
    });
    let mut fds: Vec<PollFd<'_>> = WAKE
        .get()
        .map(|fd| PollFd::new(fd, PollFlags::IN))
        .into_iter()
        .collect();
    // An error is an interruption, or a lack of memory: the caller looks at the flag and its clock.
    let _ = poll(&mut fds, timeout.as_ref());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Instant;

    use super::*;

    /// One test for both, since signals are the process's.
    #[test]
    fn a_signal_ends_a_sleep_and_all_sleeps_after_it() {
        let flag = stop_flag().unwrap();
        let begun = Instant::now();
        sleep(Some(Duration::from_millis(50)));
        assert!(begun.elapsed() >= Duration::from_millis(50) && !flag.load(Ordering::Relaxed));
        let sleeper = std::thread::spawn(|| sleep(None));
        std::thread::sleep(Duration::from_millis(20));
        // SAFETY: a handler is installed for it.
        unsafe { libc::raise(libc::SIGTERM) };
        sleeper.join().unwrap();
        assert!(flag.load(Ordering::Relaxed));
        // A signal between the look at the flag and the sleep is not missed.
        sleep(None);
    }
}
