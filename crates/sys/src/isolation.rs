//! A child process that can write one folder of the host and nothing else.
//!
//! A guest's kernel is a process of the user, and programs in the guest can take it over: they
//! mount the host's files anew, and under seccomp they reach that process's memory. What keeps them
//! from the host's files must therefore lie around the process, in the host's own kernel. Two means
//! are used together where both exist, because each has a gap:
//!
//! - **a mount namespace** in which every mount is read-only but the folder, made in a user
//!   namespace where the caller may not mount (mount_namespaces(7), `mount_setattr(2)`, Linux
//!   5.12). It covers contents and attributes. Some hosts refuse user namespaces.
//! - **Landlock** (landlock(7), Linux 5.13), which needs no privilege. It covers contents and
//!   names, and leaves mode, owner, times and extended attributes alone; where it is the only
//!   means, a `metadata` filter covers those.
//!
//! All capabilities are dropped, for root too, and none can be gained again.

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

use self::{landlock::Landlock, namespace::Namespace};

/// What this host's kernel offers the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Means {
    /// Whether a mount namespace with read-only mounts can be made.
    pub namespace: bool,
    /// Version of Landlock's interface; absent = the kernel has none, or does not use it.
    pub landlock: Option<u32>,
}

impl Means {
    /// No means at all: for a caller who insists, and to be tried in tests.
    pub const NONE: Means = Means {
        namespace: false,
        landlock: None,
    };

    /// What there is, found by trying it once in a child process.
    pub fn here() -> Means {
        static HERE: OnceLock<Means> = OnceLock::new();
        *HERE.get_or_init(|| Means {
            namespace: namespace::can_be_made(),
            landlock: landlock::version(),
        })
    }

    /// Whether files of the host cannot be written by a child under these means.
    pub fn keep_files(self) -> bool {
        self.namespace || (self.landlock.is_some() && metadata::is_known())
    }

    /// As a word or two, for messages.
    pub fn describe(self) -> &'static str {
        match (self.namespace, self.landlock) {
            (true, Some(_)) => "mount namespace and Landlock",
            (true, None) => "mount namespace",
            (false, Some(_)) => "Landlock",
            (false, None) => "none",
        }
    }
}

/// Lets `command` write beneath `folder` only, by all of `means`, and start in that folder; all
/// else of the host is read-only for it and for whatever it starts. It has no capabilities, no
/// network and no descriptors but its standard ones.
///
/// A step that fails fails the start of the command, so that it never runs with less than `means`.
///
/// # Errors
/// The folder's name holds a zero byte.
pub fn isolate(command: &mut Command, folder: &Path, means: Means) -> io::Result<()> {
    let folder = CString::new(folder.as_os_str().as_bytes()).map_err(io::Error::from)?;
    let namespace = means.namespace.then(Namespace::of_caller);
    let landlock = means.landlock.map(Landlock::new);
    let filter = match (&namespace, &landlock) {
        (None, Some(_)) => metadata::filter(),
        _ => None,
    };
    // SAFETY: between fork and exec only system calls without allocation are made: what they need
    // was made above.
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

/// The one file outside of the folder that can be written; the guest's kernel wants it for its
/// console.
const NOWHERE: &std::ffi::CStr = c"/dev/null";

/// The result of a system call as `io::Result`.
fn check(rc: libc::c_long) -> io::Result<libc::c_long> {
    if rc < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(rc)
    }
}
