//! Processor time of this process.

use std::{mem::MaybeUninit, time::Duration};

/// Processor time, as the kernel accounts it to a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// User time.
    pub user: Duration,
    /// System time: system calls, without interrupts and kernel threads.
    pub system: Duration,
}

/// Processor time of all threads of this process, including ended ones (getrusage(2)).
pub fn process() -> CpuTimes {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole rusage, which the kernel fills; all zeroes are valid, so it
    // is initialised even if the call fails, which it cannot with RUSAGE_SELF.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    CpuTimes {
        user: span(usage.ru_utime),
        system: span(usage.ru_stime),
    }
}

fn span(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows() {
        let before = process();
        let mut x = 1_u64;
        while process() == before {
            x = x.wrapping_mul(3);
        }
        assert_ne!(x, 0);
        let after = process();
        assert!(after.user + after.system > before.user + before.system);
    }
}
