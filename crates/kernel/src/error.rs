//! Errors of finding, building and importing a kernel image, each with a hint.

mod fault;
mod rejection;

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use super::missing::MissingTool;

pub use fault::{ImageFault, SourceFault, StepEnd};
pub use rejection::{Rejection, RejectionReason};

/// A failure to find, build or read a kernel image. The text names the remedy.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// Nothing has been built yet.
    #[error("there is no lab kernel yet in {}: run `pathtwin lab kernel build`, or name an image with PATHTWIN_KERNEL=FILE", dir.display())]
    NoImage {
        /// The folder that was searched.
        dir: PathBuf,
    },
    /// A name is that of no image, or of several.
    #[error(
        "\"{name}\" does not name one kernel image; there are: {}",
        list(images)
    )]
    NotNamed {
        /// The name.
        name: String,
        /// Version and hash of the images that there are, or of those that it names.
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
    #[error("the kernel cannot be built here, something is missing:\n{}", super::missing::describe(.0))]
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
    #[error("no tested kernel source that builds and boots here could be downloaded:\n{}\nremedy: {}", rejection::list(.0), rejection::remedy(.0))]
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

impl KernelError {
    /// Exit code of a command that ends with this error: 2 usage error, 3 the environment lacks
    /// something, 4 a run failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::BadSource { .. } => 2,
            Self::NoImage { .. }
            | Self::NotNamed { .. }
            | Self::BadImage { .. }
            | Self::MissingTools(_)
            | Self::Architecture(_)
            | Self::NoCache
            | Self::NoSource(_)
            | Self::Trial { .. } => 3,
            Self::Patch { .. }
            | Self::Config { .. }
            | Self::Step { .. }
            | Self::Cancelled
            | Self::Io { .. } => 4,
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
