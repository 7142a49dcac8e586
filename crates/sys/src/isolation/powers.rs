//! What a process can do beyond its user: capabilities and inherited descriptors.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities, set_no_new_privs,
};

/// Highest capability that prctl(2) is asked to drop; kernels refuse those they do not know.
const LAST_CAPABILITY: libc::c_ulong = 63;

/// Descriptors that are closed one by one where the kernel cannot close a range (before 5.11).
const DESCRIPTORS: libc::c_int = 1024;

/// `CLOSE_RANGE_CLOEXEC` of include/uapi/linux/close_range.h.
const CLOEXEC: libc::c_uint = 4;

/// Has all descriptors but the standard ones closed at exec: one that was inherited from a shell
/// leads around every read-only mount. For use between fork and exec.
pub(super) fn close_on_exec() {
    // SAFETY: takes no pointers; a flag is set, nothing is closed yet.
    let rc = unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, CLOEXEC) };
    if rc == 0 {
        return;
    }
    for descriptor in 3..DESCRIPTORS {
        // SAFETY: takes no pointers; fails where nothing is open.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Drops all capabilities for good, root's too. For use between fork and exec: nothing is
/// allocated.
pub(super) fn drop_all() -> io::Result<()> {
    for capability in 0..=LAST_CAPABILITY {
        // Refused without CAP_SETPCAP: then there are none to gain from it but by a file, which the
        // last step forbids. SAFETY: takes no pointers.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    match clear_ambient_capability_set() {
        Err(rustix::io::Errno::INVAL) => {} // before 4.3 there are none
        result => result?,
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    set_capabilities(None, sets)?;
    // exec gives root its capabilities back, but never more than before under this flag
    // (capabilities(7)).
    set_no_new_privs(true)?;
    Ok(())
}
