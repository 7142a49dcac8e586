//! System calls used by all parts of the isolation.

use std::io;

/// The only writable file outside of the folder; the guest's kernel needs it for its console.
pub(super) const NOWHERE: &std::ffi::CStr = c"/dev/null";

/// The result of a system call as `io::Result`.
pub(super) fn check(rc: libc::c_long) -> io::Result<libc::c_long> {
    if rc < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(rc)
    }
}
