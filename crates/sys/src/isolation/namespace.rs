//! Mount namespaces in which everything except a folder is read-only.

use std::{ffi::CStr, io, ptr};

use rustix::thread::{CapabilitySet, capabilities};

use super::{NOWHERE, check};

/// `struct mount_attr` of include/uapi/linux/mount.h, version 0.
#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// `MOUNT_ATTR_RDONLY` of include/uapi/linux/mount.h.
const READ_ONLY: u64 = 1;

/// `MOUNT_ATTR_NODEV`: devices on a read-only mount are still writable.
const NO_DEVICES: u64 = 4;

/// `AT_RECURSIVE` of include/uapi/linux/fcntl.h.
const RECURSIVE: libc::c_uint = 0x8000;

/// Data for creating one, prepared before the fork, where memory may be allocated.
#[derive(Debug)]
pub(super) struct Namespace {
    /// For `unshare(2)`.
    kinds: libc::c_int,
    /// Contents of `uid_map` and `gid_map`; absent = no user namespace is needed.
    maps: Option<(Vec<u8>, Vec<u8>)>,
}

impl Namespace {
    /// With the caller's own privilege to mount, otherwise in a user namespace that maps the caller
    /// to itself.
    pub(super) fn of_caller() -> Self {
        // Without the host's network, which no guest needs.
        let kinds = libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWIPC;
        if capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN)) {
            return Self { kinds, maps: None };
        }
        let (uid, gid) = (
            rustix::process::geteuid().as_raw(),
            rustix::process::getegid().as_raw(),
        );
        let map = |id: u32| format!("{id} {id} 1\n").into_bytes();
        Self {
            kinds: kinds | libc::CLONE_NEWUSER,
            maps: Some((map(uid), map(gid))),
        }
    }

    /// Moves the calling process into it; `folder`, if given, remains writable and becomes the
    /// working directory. For use between fork and exec: nothing is allocated.
    pub(super) fn enter(&self, folder: Option<&CStr>) -> io::Result<()> {
        // SAFETY: takes no pointers; the process has one thread.
        check(unsafe { libc::unshare(self.kinds) }.into())?;
        crate::netns::forget_here();
        if let Some((uids, gids)) = &self.maps {
            // user_namespaces(7): without privilege, groups can be mapped only once they can no
            // longer be changed.
            write(c"/proc/self/setgroups", b"deny")?;
            write(c"/proc/self/uid_map", uids)?;
            write(c"/proc/self/gid_map", gids)?;
        }
        // Later mounts of the host must not appear here, where they would be writable.
        mount(None, c"/", libc::MS_REC | libc::MS_PRIVATE)?;
        // Separate mounts, so that these can stay writable.
        if let Some(folder) = folder {
            mount(Some(folder), folder, libc::MS_BIND)?;
        }
        mount(Some(NOWHERE), NOWHERE, libc::MS_BIND)?;
        set_attributes(c"/", RECURSIVE, READ_ONLY | NO_DEVICES, 0)?;
        set_attributes(NOWHERE, 0, 0, NO_DEVICES)?;
        if let Some(folder) = folder {
            set_attributes(folder, 0, 0, READ_ONLY)?;
            // The working directory is still that of the mount below.
            rustix::process::chdir(folder)?;
        }
        Ok(())
    }
}

fn mount(from: Option<&CStr>, at: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    let from = from.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: strings that end in zero, or none where mount(2) allows none.
    let rc = unsafe { libc::mount(from, at.as_ptr(), ptr::null(), flags, ptr::null()) };
    check(rc.into()).map(drop)
}

fn set_attributes(at: &CStr, flags: libc::c_uint, set: u64, clear: u64) -> io::Result<()> {
    let attributes = MountAttr {
        set,
        clear,
        propagation: 0,
        user_namespace: 0,
    };
    // SAFETY: a string that ends in zero, and a structure of the size that is given.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            at.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttr>(),
        )
    };
    check(rc).map(drop)
}

fn write(file: &CStr, bytes: &[u8]) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, open};
    let file = open(file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, bytes)?;
    Ok(())
}

/// Returns true if one can be created here, tested in a child process, because limits, security
/// modules and container filters cannot be detected otherwise.
pub(super) fn can_be_made() -> bool {
    let namespace = Namespace::of_caller();
    // SAFETY: the child makes system calls without allocation and ends at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = i32::from(namespace.enter(None).is_err());
        // SAFETY: ends the process without running exit handlers of the parent.
        unsafe { libc::_exit(code) };
    }
    if child < 0 {
        return false;
    }
    let mut status = 0;
    loop {
        // SAFETY: fills a local integer.
        let rc = unsafe { libc::waitpid(child, &mut status, 0) };
        if rc == child {
            return libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return false;
        }
    }
}
