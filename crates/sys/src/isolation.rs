//! Isolation of child processes, which can write to one folder of the host only.
//!
//! A guest's kernel is a process of the user, and programs in the guest can take it over: they can
//! remount the host's files, and under seccomp they can access that process's memory. Access to the
//! host's files must therefore be restricted from outside, by the host's kernel. Two mechanisms are
//! combined where both exist, because each has a gap:
//!
//! - **a mount namespace** in which every mount except the folder is read-only, created in a user
//!   namespace if the caller may not mount (mount_namespaces(7), `mount_setattr(2)`, Linux 5.12).
//!   It covers contents and attributes. Some hosts refuse user namespaces.
//! - **Landlock** (landlock(7), Linux 5.13), which needs no privilege. It covers contents and
//!   names, but not mode, owner, times and extended attributes; where it is the only mechanism, a
//!   `metadata` filter covers those.
//!
//! All capabilities are dropped, also for root, and cannot be regained.

mod call;
mod landlock;
mod metadata;
mod namespace;
mod powers;

use std::{
    ffi::CString,
    io,
    os::unix::{ffi::OsStrExt, process::CommandExt},
    path::Path,
    process::Command,
    sync::OnceLock,
};

use call::{NOWHERE, check};

use self::{landlock::Landlock, namespace::Namespace};

/// Mechanisms that this host's kernel offers the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Means {
    /// True if a mount namespace with read-only mounts can be created.
    pub namespace: bool,
    /// Version of Landlock's ABI; absent = not available or disabled.
    pub landlock: Option<u32>,
}

impl Means {
    /// No isolation: if explicitly requested, and for tests.
    pub const NONE: Means = Means {
        namespace: false,
        landlock: None,
    };

    /// Available mechanisms, detected once by trying them in a child process.
    pub fn here() -> Means {
        static HERE: OnceLock<Means> = OnceLock::new();
        *HERE.get_or_init(|| Means {
            namespace: namespace::can_be_made(),
            landlock: landlock::version(),
        })
    }

    /// Returns true if these mechanisms protect files of the host against writing.
    pub fn keep_files(self) -> bool {
        self.namespace || (self.landlock.is_some() && metadata::is_known())
    }

    /// Short description for messages.
    pub fn describe(self) -> &'static str {
        match (self.namespace, self.landlock) {
            (true, Some(_)) => "mount namespace and Landlock",
            (true, None) => "mount namespace",
            (false, Some(_)) => "Landlock",
            (false, None) => "none",
        }
    }
}

/// Restricts `command` to writing beneath `folder`, by all of `means`, and starts it in that
/// folder; the rest of the host is read-only for it and its descendants. It has no capabilities, no
/// network and only the standard descriptors.
///
/// If any step fails, the command is not started, so that it never runs with less than `means`.
///
/// # Errors
/// The folder's name contains a NUL byte.
pub fn isolate(command: &mut Command, folder: &Path, means: Means) -> io::Result<()> {
    let folder = CString::new(folder.as_os_str().as_bytes()).map_err(io::Error::from)?;
    let namespace = means.namespace.then(Namespace::of_caller);
    let landlock = means.landlock.map(Landlock::new);
    let filter = match (&namespace, &landlock) {
        (None, Some(_)) => metadata::filter(),
        _ => None,
    };
    // SAFETY: between fork and exec only system calls without allocation are made: their arguments
    // were allocated above.
    unsafe {
        command.pre_exec(move || {
            powers::close_on_exec();
            if let Some(namespace) = &namespace {
                namespace.enter(Some(&folder))?;
            }
            powers::drop_all()?;
            if let Some(landlock) = &landlock {
                landlock.restrict(&folder)?;
            }
            if let Some(filter) = &filter {
                metadata::install(filter)?;
            }
            Ok(())
        });
    }
    Ok(())
}
