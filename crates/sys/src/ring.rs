//! Datagrams sent at fixed intervals by the kernel itself, many a system call.

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(target_arch = "x86_64")]
mod uring;

#[cfg(not(target_arch = "x86_64"))]
pub use absent::TimedSender;
#[cfg(target_arch = "x86_64")]
pub use uring::TimedSender;
