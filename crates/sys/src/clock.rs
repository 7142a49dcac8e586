//! Clocks and sleeping.
//!
//! In a lab guest a clock read in process context costs 256 ns of virtual time and a sleep ends
//! exactly at the requested nanosecond, if the timer slack of the thread is 1 ns
//! (arch/um/kernel/time.c, Linux 7.2; [`crate::sched::set_timer_slack`]).

use std::{io, time::Duration};

use rustix::time::{ClockId, Timespec, clock_gettime};

/// A point on CLOCK_MONOTONIC, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub u64);

impl Instant {
    /// Reads the clock.
    pub fn now() -> Self {
        Self(nanoseconds(clock_gettime(ClockId::Monotonic)))
    }

    /// The time `span` later.
    pub fn after(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)),
        )
    }

    /// Nanoseconds since `earlier`; negative if that is in the future.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.wrapping_sub(earlier.0) as i64
    }

    /// Sleeps until this time; returns immediately if it has passed.
    pub fn wait(self) {
        let until = Timespec {
            tv_sec: (self.0 / 1_000_000_000) as i64,
            tv_nsec: (self.0 % 1_000_000_000) as _,
        };
        while let Err(rustix::io::Errno::INTR) =
            rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &until)
        {}
    }
}

/// CLOCK_BOOTTIME now, nanoseconds: since boot, suspended time included, and never set by anybody
/// (clock_gettime(2)).
pub fn boottime_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Boottime))
}

/// CLOCK_REALTIME now, nanoseconds.
pub fn realtime_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

/// Local time less UTC at a time in seconds since 1970, s: by `$TZ` or /etc/localtime; 0 if neither
/// is known.
pub fn local_offset_s(at_s: u64) -> i32 {
    // The type is that of `localtime_r`: its name is deprecated with musl, where it will change.
    let Ok(at) = at_s.try_into() else {
        return 0;
    };
    // SAFETY: `at` and the zeroed plain struct live during the call, which writes the struct or
    // returns null.
    let local = unsafe {
        let mut local: libc::tm = std::mem::zeroed();
        (!libc::localtime_r(&raw const at, &raw mut local).is_null()).then_some(local)
    };
    local.map_or(0, |local| i32::try_from(local.tm_gmtoff).unwrap_or(0))
}

/// Difference between CLOCK_REALTIME and CLOCK_MONOTONIC, to convert timestamps of the kernel.
///
/// Each of the three clock reads costs the same virtual time in a guest, so their middle is exact
/// there.
pub fn realtime_offset() -> u64 {
    let before = Instant::now();
    let real = realtime_ns();
    let after = Instant::now();
    real - (before.0 + after.0) / 2
}

/// Ticks per second of the running kernel: the resolution of the coarse clock is one tick
/// (kernel/time/posix-timers.c, `posix_get_coarse_res`).
///
/// # Errors
/// The kernel reports a resolution of 0.
pub fn hz() -> io::Result<u32> {
    let resolution = rustix::time::clock_getres(ClockId::MonotonicCoarse);
    1_000_000_000_u64
        .checked_div(nanoseconds(resolution))
        .map(|hz| hz as u32)
        .ok_or_else(|| io::ErrorKind::Unsupported.into())
}

fn nanoseconds(t: Timespec) -> u64 {
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
