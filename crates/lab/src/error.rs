//! What can go wrong outside of the guest.

use std::{fmt, io, path::PathBuf};

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
    /// The native engine has no right to make what it needs.
    #[error(
        "the native engine makes network namespaces and queues, and needs root: run it with sudo, or use the lab's own \
         kernel (--engine uml)"
    )]
    NotRoot,
    /// The host's kernel cannot do what the native engine needs.
    #[error(
        "this host's kernel lacks what the spec needs; nothing was changed:\n{}\n\
         load the modules, or use the lab's own kernel (--engine uml)",
        .0.iter().map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n")
    )]
    Lacks(Vec<Lacking>),
    /// The host's kernel could not be asked what it can do.
    #[error("find out what this host's kernel can do: {0}")]
    Asking(#[source] testbed::BuildError),
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
        how: GuestEnd,
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
    /// A program in the guest needs more pieces of memory than the host maps.
    #[error(
        "a program in the guest needs more memory mappings than this host allows a process ({limit}), and stood still: \
         allow more with `sysctl vm.max_map_count=1048576`, or run a program that uses less memory at once"
    )]
    Mappings {
        /// What the host allows (`vm.max_map_count`).
        limit: usize,
    },
    /// The guest said why it could not do it.
    #[error("in the guest: {0}")]
    Guest(String),
    /// The guest gave no run, and no reason.
    #[error("the guest ended without a run, and without a reason")]
    NoRun,
    /// A check of ours has a spec that is none.
    #[error("the spec of the check \"{0}\": {1}")]
    Check(&'static str, #[source] model::spec::SpecError),
    /// The user asked to stop.
    #[error("stopped")]
    Stopped,
    /// The job of a guest cannot be written as JSON.
    #[error("write the guest's job as JSON: {0}")]
    GuestJob(#[source] serde_json::Error),
    /// A file of a result is not there.
    #[error("the guest wrote no {0}")]
    Missing(String),
    /// A file of a result cannot be read.
    #[error("read {file} of the result: {source}")]
    Result {
        /// Its name.
        file: String,
        /// Why not.
        source: serde_json::Error,
    },
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

/// How a guest ended that left no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestEnd {
    /// By itself, with this exit code.
    Code(i32),
    /// By a signal.
    Signal,
}

impl From<Option<i32>> for GuestEnd {
    fn from(code: Option<i32>) -> Self {
        code.map_or(Self::Signal, Self::Code)
    }
}

impl fmt::Display for GuestEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal => f.write_str("ended by a signal"),
        }
    }
}

/// What a kernel lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lacking {
    /// Its name.
    pub name: String,
    /// What the kernel said; absent = it is just not there.
    pub refusal: Option<String>,
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refusal = self.refusal.as_deref().unwrap_or("not there");
        write!(f, "{} ({refusal})", self.name)
    }
}
