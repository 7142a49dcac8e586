//! Work that the kernel does by itself at fixed times, or as datagrams come: many steps a system
//! call.

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(target_arch = "x86_64")]
mod uring;

use crate::netlink::{Message, Netlink};

#[cfg(not(target_arch = "x86_64"))]
pub use absent::{Reflector, TimedReader, TimedSender};
#[cfg(target_arch = "x86_64")]
pub use uring::{Reflector, TimedReader, TimedSender};

/// A request of a [`TimedReader`], answered by one message.
#[derive(Debug)]
pub struct TimedRequest {
    /// A socket that nothing else uses.
    pub nl: Netlink,
    /// The request.
    pub message: Message,
    /// Most bytes of the reply.
    pub room: usize,
    /// It is made at times whose number is a multiple of this.
    pub every: u32,
}
