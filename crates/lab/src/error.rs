//! Errors of the lab.

use std::{fmt, io, path::PathBuf};

use model::{
    cell::KernelName, record::StreamError, spec::quantity::QuantityError, text, text::Text,
};

use crate::{batch::BatchError, segment::SegmentError};

/// Reason why a variable of the environment has a wrong value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CacheSettingError {
    /// It is not a size.
    #[error("{0}")]
    Size(#[from] QuantityError),
    /// A URL with another scheme.
    #[error("\"{0}\" does not begin with http://; for https, use a proxy on this host")]
    Scheme(String),
    /// It is not a URL.
    #[error("\"{0}\" is not http://HOST[:PORT][/PREFIX]")]
    Url(String),
    /// Neither yes nor no.
    #[error("\"{0}\" is neither yes nor no")]
    Switch(String),
}

/// Reason why the lab could not run a job.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file or folder could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The action, as a verb.
        action: &'static str,
        /// Its object.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// The guest program is missing.
    #[error(
        "there is no guest program {}: build it with `make build`, or name it in PATHTWIN_GUEST",
        .0.display()
    )]
    NoGuest(PathBuf),
    /// The environment names no folder for the cache.
    #[error("there is no folder for the cache of results: set PATHTWIN_CACHE or HOME")]
    NoCache,
    /// A variable of the environment about the cache has a wrong value.
    #[error("{name}: {why}")]
    CacheSetting {
        /// Name of the variable.
        name: &'static str,
        /// The reason.
        why: CacheSettingError,
    },
    /// `PATHTWIN_SECCOMP` has a wrong value.
    #[error("PATHTWIN_SECCOMP: \"{0}\" is neither yes nor no")]
    Seccomp(String),
    /// The native engine lacks the permission to create what it needs.
    #[error(
        "the native engine needs root, because it creates network namespaces and queues: run it with sudo, or use the \
         lab's own kernel (--engine uml)"
    )]
    NotRoot,
    /// The lab's kernel does not have a congestion control.
    #[error("the lab's kernel has no congestion control {name}{}; it has {}", near(name, known), known.join(", "))]
    NoCongestion {
        /// Its name.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// A path does not have a node.
    #[error("there is no node {node}; the path has {}", nodes.join(", "))]
    NoNode {
        /// Its name.
        node: String,
        /// Those that it has.
        nodes: Vec<&'static str>,
    },
    /// This host does not have a program.
    #[error("there is no program {0} on this host, whose programs the lab runs")]
    NoProgram(String),
    /// The native engine has no kernel image.
    #[error(
        "the native engine runs this host's kernel and has no image of its own: use --engine uml"
    )]
    NoImage,
    /// Cells of the native engine name a kernel image.
    #[error(
        "the native engine runs this host's kernel, and the spec names another ({0}): remove the key `kernel`, or use \
         --engine uml"
    )]
    OtherKernel(KernelName),
    /// The host's kernel lacks a feature that the native engine needs.
    #[error(
        "this host's kernel lacks features that the spec needs; nothing was changed:\n{}\n\
         load the modules, or use the lab's own kernel (--engine uml)",
        .0.iter().map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n")
    )]
    Lacks(Vec<Lacking>),
    /// The features of the host's kernel could not be probed.
    #[error("cannot probe the features of this host's kernel: {0}")]
    Probe(#[source] testbed::BuildError),
    /// A guest could write the host's files.
    #[error(
        "this host cannot make its files read-only for programs in the lab; nothing was run. That needs user \
         namespaces (sysctl user.max_user_namespaces above 0; on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0) \
         or Landlock (Linux 5.13 or newer, `landlock` in the kernel's lsm= list); in a container, a seccomp profile that \
         lets one of them through. For programs that you trust with all your files: --allow-host-writes"
    )]
    FilesWritable,
    /// The kernel process could not be started or waited for.
    #[error("cannot start {program}: {1}; is it a User Mode Linux kernel with permission to execute?",
        program = .0.display())]
    Start(PathBuf, io::Error),
    /// The kernel image is no longer the one whose hash names the results.
    #[error("the kernel image {} was replaced or changed while guests used it: start again for results of the new one",
        .0.display())]
    ImageReplaced(PathBuf),
    /// The guest ended without a result.
    #[error("the guest ended without a result ({how}); the end of its console:\n{console}")]
    NoResult {
        /// End of the guest.
        how: GuestEnd,
        /// Its last lines of output.
        console: String,
    },
    /// The guest ran longer than it may.
    #[error("the guest was stopped after {seconds} s; the end of its console:\n{console}")]
    TooLong {
        /// The limit.
        seconds: u64,
        /// Its last lines of output.
        console: String,
    },
    /// A program in the guest needs more memory mappings than the host allows.
    #[error(
        "a program in the guest needs more memory mappings than this host allows a process ({limit}), and stopped making progress: \
         allow more with `sysctl vm.max_map_count=1048576`, or run a program that uses less memory at once"
    )]
    Mappings {
        /// Limit of the host (`vm.max_map_count`).
        limit: usize,
    },
    /// The guest reported why the job failed.
    #[error("the guest could not {task}: {report}")]
    Guest {
        /// Its task.
        task: Task,
        /// The guest's own message.
        report: Text,
    },
    /// The guest reported neither a run nor an error.
    #[error(
        "the guest ended without a run and without an error message; this is a bug, please report it with the spec and its seed"
    )]
    NoRun,
    /// The user requested to stop.
    #[error("stopped")]
    Stopped,
    /// The job of a guest cannot be written as JSON.
    #[error("cannot write the guest's job as JSON: {0}")]
    GuestJob(#[source] serde_json::Error),
    /// A file of a result is missing.
    #[error("the guest did not write {0}")]
    Missing(String),
    /// A file of a result cannot be parsed.
    #[error("cannot parse {file} of the result: {source}")]
    Result {
        /// Its name.
        file: String,
        /// The parse error.
        source: serde_json::Error,
    },
    /// The records of a result cannot be read.
    #[error("cannot read the records of a result: {0}")]
    Records(#[from] StreamError),
    /// Segments cannot be run or combined.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// Cells cannot be run on a cluster.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The kernel image is missing or unfit.
    #[error(transparent)]
    Kernel(#[from] kernel::KernelError),
}

/// The known name that is nearest to a wrong one, as a hint.
fn near(wrong: &str, known: &[String]) -> String {
    let nearest = model::spec::nearest::nearest(wrong, known.iter().map(String::as_str));
    nearest.map_or_else(String::new, |name| format!(", nearest is {name}"))
}

impl LabError {
    /// The error as a text. What a guest reports keeps its values; all else is in English.
    pub fn text(&self) -> Text {
        match self {
            Self::Guest { task, report } => text!(
                "the guest could not {task}: {report}",
                task = task.text(),
                report = report.clone()
            ),
            other => Text::plain(other.to_string()),
        }
    }

    /// For `map_err` of calls on files.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }
}

/// The end of a guest that left no result.
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

/// The job that a guest failed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// A cell.
    Cell,
    /// A plan between the ends of a path.
    Plan,
    /// Remedies on its ends, and their effect.
    Prove,
}

impl Task {
    fn text(self) -> Text {
        match self {
            Self::Cell => text!("run the cell"),
            Self::Plan => text!("measure the plan"),
            Self::Prove => text!("prove the change"),
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

/// A feature that a kernel lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lacking {
    /// Its name.
    pub name: String,
    /// The kernel's error; absent = the feature is missing.
    pub refusal: Option<String>,
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refusal = self.refusal.as_deref().unwrap_or("missing");
        write!(f, "{} ({refusal})", self.name)
    }
}
