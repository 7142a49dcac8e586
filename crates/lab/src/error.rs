//! What can go wrong outside of the guest.

use std::{io, path::PathBuf};

use model::record::StreamError;

/// Why the lab could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file or folder could not be used.
    #[error("{what} {path}: {source}")]
    File {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The guest program is not where it is looked for.
    #[error(
        "no guest program: looked for {0}; build it with `make build`, or name it in PATHTWIN_GUEST"
    )]
    NoGuest(PathBuf),
    /// Nobody says where a cache may be.
    #[error("there is no place for the cache: set PATHTWIN_CACHE or HOME")]
    NoCache,
    /// The host cannot do what the native engine needs.
    #[error("{0}")]
    Lacks(String),
    /// A guest could write the host's files.
    #[error(
        "this host has no means to make its files read-only for programs in the lab; nothing was run. It takes user \
         namespaces (sysctl user.max_user_namespaces above 0; on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0) \
         or Landlock (Linux 5.13 or newer, `landlock` in the kernel's lsm= list); in a container, a seccomp profile that \
         lets one of them through. For programs that you trust with all your files: --allow-host-writes"
    )]
    FilesWritable,
    /// The kernel process could not be started or waited for.
    #[error("start {0}: {1}; is it a User Mode Linux kernel that may be executed?")]
    Start(PathBuf, io::Error),
    /// The guest ended without a result.
    #[error("the guest ended without a result ({how}); the end of its console:\n{console}")]
    NoResult {
        /// How it ended.
        how: String,
        /// The last lines it printed.
        console: String,
    },
    /// The guest ran longer than it may.
    #[error("the guest was stopped after {seconds} s; the end of its console:\n{console}")]
    TooLong {
        /// The limit.
        seconds: u64,
        /// The last lines it printed.
        console: String,
    },
    /// The guest said why it could not do it.
    #[error("in the guest: {0}")]
    Guest(String),
    /// A check of ours has a spec that is none.
    #[error("the spec of the check \"{0}\": {1}")]
    Check(&'static str, String),
    /// The user asked to stop.
    #[error("stopped")]
    Stopped,
    /// A result cannot be read.
    #[error("the result in {0} cannot be read: {1}")]
    Result(PathBuf, String),
    /// The records of a result cannot be read.
    #[error("the records of a result cannot be read: {0}")]
    Records(#[from] StreamError),
    /// The kernel image is missing or unfit.
    #[error(transparent)]
    Kernel(#[from] kernel::KernelError),
}

impl LabError {
    /// For `map_err` of calls on files.
    pub(crate) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
