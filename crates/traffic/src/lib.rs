//! The traffic engine: loads and probes as halves, pathtwin's wire protocol, the admission of load.
//!
//! A half is a loop over blocking calls in its own thread. That is the cheapest design in a lab
//! guest: a blocked call that transfers a megabyte remains in the kernel from packet to packet,
//! while an event loop would leave it for every packet, at 5 to 10 µs of real time. Sockets are
//! passed in as closures that open them, so that a half is independent of its namespace.

use std::{io, sync::LazyLock, thread};

pub mod admission;
pub mod load;
pub mod quic;
pub mod wire;

/// Opens a socket when its half is ready for it.
pub type Opener<S> = Box<dyn FnOnce() -> io::Result<S> + Send>;

/// Stack of a half's thread: no recursion, and no buffers on the stack.
pub const STACK: usize = 128 << 10;

/// Payload of one write. On the heap: constants, also of zeroes, are part of the program's file.
static ZEROES: LazyLock<Box<[u8]>> = LazyLock::new(|| vec![0; 64 << 10].into_boxed_slice());

/// Starts the thread of a half.
///
/// # Errors
///
/// No thread could be started.
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<thread::JoinHandle<T>> {
    spawn_with(name, STACK, body)
}

/// Same as [`spawn`], with another stack size.
fn spawn_with<T: Send + 'static>(
    name: &str,
    stack: usize,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<thread::JoinHandle<T>> {
    thread::Builder::new()
        .name(name.to_owned())
        .stack_size(stack)
        .spawn(move || {
            // Without this, a sleep ends up to 50 µs late.
            let _ = sys::sched::set_timer_slack(1);
            body()
        })
}
