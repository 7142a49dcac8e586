//! What can go wrong with the kernel image, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use super::missing::MissingTool;

/// A failure to find, build or read a kernel image. The text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// Nothing has been built yet.
    #[error("there is no lab kernel yet in {}: run `pathtwin lab kernel build`, or name an image with PATHTWIN_KERNEL=FILE", dir.display())]
    NoImage {
        /// The folder that was searched.
        dir: PathBuf,
    },
    /// A file was named as an image, or found in the cache, and is none.
    #[error("{} is not a usable kernel image: {why}; `pathtwin lab kernel build --force` makes a new one", path.display())]
    BadImage {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Programs or libraries that the build needs are absent.
    #[error("the kernel cannot be built here, something is missing:\n{}", super::missing::describe(.0))]
    MissingTools(Vec<MissingTool>),
    /// This machine cannot run or build User Mode Linux.
    #[error("the lab's kernel cannot be built on this machine: {0}")]
    Host(String),
    /// The source that was named cannot be used.
    #[error("{} cannot be used as a kernel source: {why}", path.display())]
    BadSource {
        /// What was named.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// No kernel source could be had from any archive.
    #[error("no tested kernel source could be had that builds and boots here:\n{}\nremedy: {remedy}", .tried.iter().map(|(what, why)| format!("  {what}: {why}")).collect::<Vec<_>>().join("\n"))]
    NoSource {
        /// Each place that was tried, and its answer.
        tried: Vec<(String, String)>,
        /// What the user can do.
        remedy: String,
    },
    /// A required patch does not fit the source.
    #[error(
        "the patch {name} does not apply to Linux {version}: use another source (`--source FILE`)\n{tail}"
    )]
    Patch {
        /// File name of the patch.
        name: String,
        /// Version of the source.
        version: String,
        /// What `patch` said.
        tail: String,
    },
    /// The configuration lacks options without which the lab cannot work.
    #[error("Linux {version} does not take these options, which the lab needs: {}", options.join(" "))]
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
        /// What came of the attempt.
        why: String,
    },
    /// A program that was run failed.
    #[error("{step} failed ({status}); the whole log is {}\n{tail}", log.display())]
    Step {
        /// What was being done.
        step: String,
        /// How it ended.
        status: String,
        /// The last lines of the log.
        tail: String,
        /// Where the whole log is.
        log: PathBuf,
    },
    /// The build was asked to stop.
    #[error("the kernel build was stopped")]
    Cancelled,
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was being done, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl KernelError {
    /// Exit code of a command that ends with this error: 2 wrong use, 3 the environment lacks
    /// something, 4 a run failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::BadSource { .. } => 2,
            Self::NoImage { .. }
            | Self::BadImage { .. }
            | Self::MissingTools(_)
            | Self::Host(_)
            | Self::NoSource { .. }
            | Self::Trial { .. } => 3,
            Self::Patch { .. }
            | Self::Config { .. }
            | Self::Step { .. }
            | Self::Cancelled
            | Self::Io { .. } => 4,
        }
    }
}

/// Turns an [`io::Error`] into a [`KernelError::Io`] that names the file.
pub(super) trait Context<T> {
    /// Says what was being done to which file.
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
