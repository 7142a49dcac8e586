//! SIGINT and SIGTERM as a flag.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

static REQUESTED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_signal: libc::c_int) {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Makes SIGINT and SIGTERM set the returned flag instead of terminating the process. A second
/// signal terminates it.
///
/// # Errors
/// The kernel refused a handler: `sigaction(2)`.
pub fn stop_flag() -> io::Result<&'static AtomicBool> {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the struct is zeroed plain data, then given a handler that only stores to an
        // atomic, which is allowed in a signal handler. SA_RESETHAND restores the default.
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
