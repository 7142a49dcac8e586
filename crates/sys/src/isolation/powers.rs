//! Capabilities and inherited descriptors of a process.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities, set_no_new_privs,
};

/// Highest capability to drop with prctl(2); kernels reject unknown ones.
const LAST_CAPABILITY: libc::c_ulong = 63;

/// Number of descriptors that are closed individually on kernels without close_range (before 5.11).
const DESCRIPTORS: libc::c_int = 1024;

/// `CLOSE_RANGE_CLOEXEC` of include/uapi/linux/close_range.h.
const CLOEXEC: libc::c_uint = 4;

/// Closes all descriptors except the standard ones at exec: one inherited from a shell would bypass
/// read-only mounts. For use between fork and exec.
pub(super) fn close_on_exec() {
    // SAFETY: takes no pointers; only sets a flag, and closes nothing yet.
    let rc = unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, CLOEXEC) };
    if rc == 0 {
        return;
    }
    for descriptor in 3..DESCRIPTORS {
        // SAFETY: takes no pointers; fails where nothing is open.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Drops all capabilities permanently, also for root. For use between fork and exec: nothing is
/// allocated.
pub(super) fn drop_all() -> io::Result<()> {
    for capability in 0..=LAST_CAPABILITY {
        // Fails without CAP_SETPCAP: then capabilities could only be gained from a file, which the
        // last step prevents. SAFETY: takes no pointers.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    match clear_ambient_capability_set() {
        Err(rustix::io::Errno::INVAL) => {} // not available before 4.3
        result => result?,
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    set_capabilities(None, sets)?;
    // exec restores root's capabilities, but never more than before under this flag
    // (capabilities(7)).
    set_no_new_privs(true)?;
    Ok(())
}
