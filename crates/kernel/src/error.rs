//! Errors of finding, building and importing a kernel image, each with a hint.

mod fault;

use std::{
    error::Error,
    fmt, io,
    path::{Path, PathBuf},
};

use crate::{missing::MissingTool, tested::Refusal};

pub use fault::{ImageFault, SourceFault, StepEnd};

/// A failure to find, build or read a kernel image. The text names the remedy.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// Nothing has been built yet.
    #[error("there is no lab kernel yet in {}: run `pathtwin lab kernel build`, or name an image with PATHTWIN_KERNEL=FILE", dir.display())]
    NoImage {
        /// The folder that was searched.
        dir: PathBuf,
    },
    /// A name is that of no image.
    #[error(
        "no kernel image here is named \"{name}\", which is a version or at least 6 characters of a hash; there are: \
         {}; `pathtwin lab kernel build` and `lab kernel import FILE` make others",
        list(images)
    )]
    NotNamed {
        /// The name.
        name: String,
        /// Version and hash of the images that there are.
        images: Vec<String>,
    },
    /// A name is that of several images of one version.
    #[error(
        "\"{name}\" names several kernel images: {}; write the beginning of a hash",
        list(images)
    )]
    NamedTwice {
        /// The name.
        name: String,
        /// Version and hash of each.
        images: Vec<String>,
    },
    /// A file that was named as an image, or found in the cache, is not an image.
    #[error("{} is not a usable kernel image: {fault}; `pathtwin lab kernel build --force` makes a new one", path.display())]
    BadImage {
        /// The file.
        path: PathBuf,
        /// Its fault.
        fault: ImageFault,
    },
    /// Programs or libraries that the build needs are absent.
    #[error("the kernel cannot be built here, something is missing:\n{}", crate::missing::describe(.0))]
    MissingTools(Vec<MissingTool>),
    /// User Mode Linux neither runs nor is built on processors of this kind.
    #[error(
        "the lab's kernel cannot be built on this machine: User Mode Linux exists for x86_64 only, and this is {0}"
    )]
    Architecture(&'static str),
    /// The environment names no folder for the cache.
    #[error("there is no folder for the cache of kernel images: set PATHTWIN_CACHE or HOME")]
    NoCache,
    /// The source that was named cannot be used.
    #[error("{} cannot be used as a kernel source: {fault}", path.display())]
    BadSource {
        /// The name that was given.
        path: PathBuf,
        /// Its fault.
        fault: SourceFault,
    },
    /// No archive has a suitable source.
    #[error("no tested kernel source that builds and boots here could be downloaded:\n{}\nremedy: {}", rejected(.0), remedy(.0))]
    NoSource(Vec<Rejection>),
    /// A required patch does not fit the source.
    #[error(
        "the patch {name} does not apply to Linux {version}: use another source (`--source FILE`)\n{tail}"
    )]
    Patch {
        /// File name of the patch.
        name: String,
        /// Version of the source.
        version: String,
        /// The last lines that `patch` printed.
        tail: String,
    },
    /// The configuration lacks options without which the lab cannot work.
    #[error("Linux {version} does not support these options, which the lab needs: {}", options.join(" "))]
    Config {
        /// Version of the source.
        version: String,
        /// The options, as `CONFIG_...=value`.
        options: Vec<String>,
    },
    /// An image does not boot on this host.
    #[error("the image of Linux {version} does not boot on this host: {why}")]
    Trial {
        /// Version of the image.
        version: String,
        /// The error.
        why: TrialError,
    },
    /// A program that was run failed.
    #[error("{step} failed ({end}); the whole log is {}\n{tail}", log.display())]
    Step {
        /// The action.
        step: String,
        /// Its end.
        end: StepEnd,
        /// The last lines of the log.
        tail: String,
        /// The complete log.
        log: PathBuf,
    },
    /// The build was asked to stop.
    #[error("the kernel build was stopped")]
    Cancelled,
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The action, as a verb.
        action: &'static str,
        /// Its object.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

fn list(images: &[String]) -> String {
    match images {
        [] => "none; `pathtwin lab kernel build` makes one".to_owned(),
        images => images.join(", "),
    }
}

/// Error of an image's trial; the caller's own type.
pub type TrialError = Box<dyn Error + Send + Sync>;

/// An archive, or a package of one, that a build did not use.
#[derive(Debug)]
pub struct Rejection {
    /// The archive and its suite, or the file: `http://deb.debian.org/debian unstable`.
    pub place: String,
    /// The reason.
    pub reason: RejectionReason,
}

/// Reason for rejecting a source.
#[derive(Debug, thiserror::Error)]
pub enum RejectionReason {
    /// The archive's signature cannot be checked.
    #[error("the keys to check its signature are absent")]
    NoKeyring,
    /// The archive offers nothing.
    #[error("it has no linux-source package")]
    NoPackage,
    /// The archive does not offer the package of the series that was asked for.
    #[error("it has no {0}")]
    NoSeries(String),
    /// A package was not allowed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The archive could not be read.
    #[error("{}", complaint(.0))]
    Unreadable(Box<KernelError>),
    /// It did not build, or its image did not boot.
    #[error("{package}: {error}")]
    Build {
        /// Name and version of the package.
        package: String,
        /// The error.
        error: Box<KernelError>,
    },
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

impl KernelError {
    /// Exit code of a command that ends with this error: 2 usage error, 3 the environment lacks
    /// something, 4 a run failed, 130 the user stopped it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::BadSource { .. } => 2,
            Self::NoImage { .. }
            | Self::NotNamed { .. }
            | Self::NamedTwice { .. }
            | Self::BadImage { .. }
            | Self::MissingTools(_)
            | Self::Architecture(_)
            | Self::NoCache
            | Self::NoSource(_)
            | Self::Trial { .. } => 3,
            Self::Patch { .. } | Self::Config { .. } | Self::Step { .. } | Self::Io { .. } => 4,
            Self::Cancelled => 130,
        }
    }

    /// An error about an image, for `map_err` and `ok_or_else`.
    pub(super) fn image(path: &Path, fault: ImageFault) -> Self {
        Self::BadImage {
            path: path.to_path_buf(),
            fault,
        }
    }

    /// An error about a source.
    pub(super) fn source(path: &Path, fault: SourceFault) -> Self {
        Self::BadSource {
            path: path.to_path_buf(),
            fault,
        }
    }
}

/// Turns an [`io::Error`] into a [`KernelError::Io`] that names the file.
pub(super) trait Context<T> {
    /// Adds the operation and the file to an error.
    fn on(self, action: &'static str, path: &Path) -> Result<T, KernelError>;
}

impl<T> Context<T> for io::Result<T> {
    fn on(self, action: &'static str, path: &Path) -> Result<T, KernelError> {
        self.map_err(|source| KernelError::Io {
            action,
            path: path.to_path_buf(),
            source,
        })
    }
}

/// The rejections, one a line.
fn rejected(rejections: &[Rejection]) -> String {
    let lines: Vec<String> = rejections.iter().map(|r| format!("  {r}")).collect();
    lines.join("\n")
}

/// Advice to the user if all sources were rejected.
fn remedy(rejections: &[Rejection]) -> String {
    let keyring = rejections
        .iter()
        .any(|r| matches!(r.reason, RejectionReason::NoKeyring));
    let first = match keyring {
        true => "apt-get install debian-archive-keyring, or: ",
        false => "",
    };
    format!(
        "{first}check the network and the mirror, or give a kernel tarball or a linux-source package with --source FILE"
    )
}

/// The lines of apt's output that state the reason.
fn complaint(error: &KernelError) -> String {
    let KernelError::Step { tail, end, .. } = error else {
        return error.to_string();
    };
    let why: Vec<&str> = tail
        .lines()
        .filter(|line| line.starts_with("E: ") || line.starts_with("Err:"))
        .collect();
    if why.is_empty() {
        end.to_string()
    } else {
        why.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

    use super::*;

    fn failed_step(tail: &str) -> KernelError {
        KernelError::Step {
            step: "x".to_owned(),
            end: StepEnd::Status(ExitStatus::from_raw(100 << 8)),
            tail: tail.to_owned(),
            log: PathBuf::new(),
        }
    }

    #[test]
    fn the_reason_is_taken_from_apts_complaints() {
        let error = failed_step("Get:1 a\nE: The repository 'b' is not signed.\nN: c");
        assert_eq!(complaint(&error), "E: The repository 'b' is not signed.");
        assert_eq!(complaint(&failed_step("N: c")), "exit status: 100");
    }

    #[test]
    fn without_the_keys_of_the_archive_the_remedy_is_to_install_them() {
        let rejection = |reason| Rejection {
            place: "http://x.example/debian".to_owned(),
            reason,
        };
        let error = KernelError::NoSource(vec![rejection(RejectionReason::NoKeyring)]);
        assert!(
            error.to_string().contains("install debian-archive-keyring"),
            "{error}"
        );
        let error = KernelError::NoSource(vec![rejection(RejectionReason::NoPackage)]);
        assert!(!error.to_string().contains("keyring"), "{error}");
        assert!(error.to_string().contains("--source FILE"), "{error}");
    }
}
