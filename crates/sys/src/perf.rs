//! Sampling profiler of all processors at a fixed rate (perf_event_open(2);
//! include/uapi/linux/perf_event.h, kernel/events/core.c, Linux 7.2).
//!
//! It needs CAP_PERFMON, or `kernel.perf_event_paranoid` at 0 or below. It covers the whole host,
//! regardless of namespaces.

pub(crate) mod records;
mod ring;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::procfs;

pub use records::Samples;
use ring::Ring;

/// `PERF_TYPE_SOFTWARE`, whose event 0 is a timer of each processor's own clock
/// (`PERF_COUNT_SW_CPU_CLOCK`): unlike hardware counters, it is available in virtual machines.
const PERF_TYPE_SOFTWARE: u32 = 1;
/// A sample contains only the instruction pointer (`PERF_SAMPLE_IP`).
const PERF_SAMPLE_IP: u64 = 1;
/// Bits of `struct perf_event_attr`: disabled at start; exclude idle; frequency instead of period.
const DISABLED: u64 = 1;
const EXCLUDE_IDLE: u64 = 1 << 7;
const FREQ: u64 = 1 << 10;
/// `PERF_ATTR_SIZE_VER0`, since Linux 2.6.31.
const ATTR_LEN: u32 = 64;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;
const PERF_EVENT_IOC_ENABLE: u32 = 0x2400;
const PERF_EVENT_IOC_DISABLE: u32 = 0x2401;
/// Maximum frequency. The kernel rejects more than `kernel.perf_event_max_sample_rate`; the
/// overhead is about 1 us per sample.
const MAX_HZ: u32 = 1000;

/// Error of starting the profiler.
#[derive(Debug, thiserror::Error)]
#[error("cannot sample processor {cpu}: {error}{advice}")]
pub struct PerfError {
    /// The processor.
    pub cpu: u32,
    /// The I/O error.
    #[source]
    pub error: io::Error,
    advice: &'static str,
}

impl PerfError {
    fn new(cpu: u32, error: io::Error) -> PerfError {
        let refused = matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM));
        let advice = if refused {
            "; this needs root, CAP_PERFMON, or sysctl kernel.perf_event_paranoid=0"
        } else {
            ""
        };
        PerfError { cpu, error, advice }
    }
}

/// Profiler of all online processors; stops on drop.
#[derive(Debug)]
pub struct Sampler {
    events: Vec<Event>,
    frequency_hz: u32,
}

/// Profiler of one processor.
#[derive(Debug)]
struct Event {
    // The mapping is dropped before the descriptor.
    ring: Ring,
    fd: OwnedFd,
}

impl Sampler {
    /// Starts sampling at `frequency_hz` (at most 1000) on each busy processor. The buffer holds
    /// about 16 seconds at 1000 Hz; further samples are counted as lost.
    ///
    /// # Errors
    /// The kernel rejects it or does not support it.
    pub fn start(frequency_hz: u32) -> Result<Sampler, PerfError> {
        let frequency_hz = frequency_hz.clamp(1, MAX_HZ);
        let text = procfs::read("/proc/stat").map_err(|e| PerfError::new(0, e))?;
        let mut events = Vec::new();
        for core in procfs::cores(&text) {
            let failed = |e| PerfError::new(core.cpu, e);
            let fd = open(core.cpu, frequency_hz).map_err(failed)?;
            let ring = Ring::map(&fd).map_err(failed)?;
            events.push(Event { ring, fd });
        }
        let sampler = Sampler {
            events,
            frequency_hz,
        };
        sampler.switch(PERF_EVENT_IOC_ENABLE);
        Ok(sampler)
    }

    /// Samples a second on each processor.
    pub fn frequency_hz(&self) -> u32 {
        self.frequency_hz
    }

    /// Stops sampling and returns the samples.
    pub fn stop(mut self) -> Samples {
        self.switch(PERF_EVENT_IOC_DISABLE);
        let mut samples = Samples::default();
        for event in &mut self.events {
            samples.add(&event.ring.take());
        }
        samples
    }

    fn switch(&self, command: u32) {
        for event in &self.events {
            // SAFETY: these commands of a perf event take no pointer; the descriptor is open. They
            // cannot fail for events of this process.
            let _ = unsafe { libc::ioctl(event.fd.as_raw_fd(), command as _, 0) };
        }
    }
}

fn open(cpu: u32, frequency_hz: u32) -> io::Result<OwnedFd> {
    // `struct perf_event_attr` up to version 0: type and size, config, frequency, content of a
    // sample, format of read(2), bits, wakeup and breakpoint type, config1.
    let bits = DISABLED | EXCLUDE_IDLE | FREQ;
    let frequency = u64::from(frequency_hz);
    let attr: [u64; 8] = [
        two(PERF_TYPE_SOFTWARE, ATTR_LEN),
        0,
        frequency,
        PERF_SAMPLE_IP,
        0,
        bits,
        0,
        0,
    ];
    let all_processes: libc::pid_t = -1;
    let no_group: libc::c_int = -1;
    // SAFETY: `attr` is as long as its size field and outlives the call, which only reads it.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            attr.as_ptr(),
            all_processes,
            cpu as libc::c_int,
            no_group,
            PERF_FLAG_FD_CLOEXEC,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call created this descriptor, which has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) })
}

/// Two consecutive 32-bit fields as one 64-bit number.
fn two(first: u32, second: u32) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&first.to_ne_bytes());
    bytes[4..].copy_from_slice(&second.to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests;
