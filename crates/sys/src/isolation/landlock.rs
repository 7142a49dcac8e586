//! Landlock rules: writing only beneath one folder (Documentation/userspace-api/landlock.rst).

use std::{
    ffi::CStr,
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    ptr,
};

use super::check;

/// `struct landlock_ruleset_attr` of include/uapi/linux/landlock.h; newer ABI versions have more
/// fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Handled {
    files: u64,
    network: u64,
    scopes: u64,
}

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    path: i32,
}

/// `LANDLOCK_RULE_PATH_BENEATH`.
const PATH_BENEATH: libc::c_int = 1;

/// `LANDLOCK_CREATE_RULESET_VERSION`.
const VERSION: libc::c_uint = 1;

/// Modifying `LANDLOCK_ACCESS_FS_*` rights, by the version that introduced them: writing files,
/// removing and creating all types; linking and renaming across folders; truncating; `ioctl` on
/// devices.
const CHANGES: [(u32, u64); 4] = [(1, 0x1ff2), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15)];

/// `LANDLOCK_ACCESS_FS_MAKE_CHAR` and `_MAKE_BLOCK`: devices are never created here.
const DEVICES: u64 = 1 << 6 | 1 << 11;

/// `LANDLOCK_ACCESS_FS_WRITE_FILE`.
const WRITE_FILE: u64 = 1 << 1;

/// `LANDLOCK_ACCESS_NET_BIND_TCP` and `_CONNECT_TCP`, since version 4.
const TCP: u64 = 3;

/// `LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET` and `_SIGNAL`, since version 6: no abstract sockets and no
/// signals to outside processes.
const SCOPES: u64 = 3;

/// The ABI version; `None` if Landlock is not available or disabled.
pub(super) fn version() -> Option<u32> {
    // SAFETY: with this flag no pointer is read.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<u8>(),
            0usize,
            VERSION,
        )
    };
    u32::try_from(rc).ok().filter(|&v| v > 0)
}

/// Rights denied outside of the folder.
#[derive(Debug)]
pub(super) struct Landlock {
    handled: Handled,
    size: usize,
}

impl Landlock {
    /// All rights that an ABI version can deny.
    pub(super) fn new(version: u32) -> Self {
        let files = CHANGES
            .iter()
            .filter(|(since, _)| version >= *since)
            .fold(0, |all, (_, bits)| all | bits);
        let since = |first: u32, bits: u64| if version >= first { bits } else { 0 };
        // A kernel rejects unknown fields unless they are zero.
        Self {
            handled: Handled {
                files,
                network: since(4, TCP),
                scopes: since(6, SCOPES),
            },
            size: size_of::<Handled>(),
        }
    }

    /// Applies it to the calling process and its descendants. For use between fork and exec:
    /// nothing is allocated. `PR_SET_NO_NEW_PRIVS` must be set.
    pub(super) fn restrict(&self, folder: &CStr) -> io::Result<()> {
        // SAFETY: a structure of the size that is given.
        let rules = check(unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                &raw const self.handled,
                self.size,
                0u32,
            )
        })?;
        // SAFETY: a descriptor that the kernel has just given to us alone.
        let rules = unsafe { OwnedFd::from_raw_fd(rules as i32) };
        allow(&rules, folder, self.handled.files & !DEVICES)?;
        allow(&rules, super::NOWHERE, WRITE_FILE)?;
        // SAFETY: takes no pointers.
        check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0u32) })?;
        Ok(())
    }
}

/// Allows `changes` to a file, or to everything beneath a folder.
fn allow(rules: &OwnedFd, path: &CStr, changes: u64) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, open};
    let path = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let beneath = Beneath {
        allowed: changes,
        path: path.as_raw_fd(),
    };
    // SAFETY: two descriptors that are open, and a structure of the kind that is named.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            rules.as_raw_fd(),
            PATH_BENEATH,
            &raw const beneath,
            0u32,
        )
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of include/uapi/linux/landlock.h: execute is 0, reading 2 and 3, all others are
    /// modifications.
    #[test]
    fn reading_and_executing_are_never_denied() {
        for version in 1..=9 {
            let files = Landlock::new(version).handled.files;
            assert_eq!(files & 0b1101, 0, "version {version}");
            assert_eq!(files & 2, 2, "version {version}");
        }
        assert_eq!(Landlock::new(1).handled.files, 0x1ff2);
        assert_eq!(Landlock::new(9).handled.files, 0xfff2);
    }

    /// A kernel rejects bits of later versions.
    #[test]
    fn no_bit_is_requested_before_its_version() {
        let bits = |v: u32| {
            let Handled {
                files,
                network,
                scopes,
            } = Landlock::new(v).handled;
            (files >> 13, network, scopes)
        };
        assert_eq!(bits(1), (0, 0, 0));
        assert_eq!(bits(2), (1, 0, 0));
        assert_eq!(bits(3), (3, 0, 0));
        assert_eq!(bits(4), (3, 3, 0));
        assert_eq!(bits(5), (7, 3, 0));
        assert_eq!(bits(6), (7, 3, 3));
    }
}
