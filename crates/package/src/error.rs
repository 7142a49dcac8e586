use std::{io, path::PathBuf};

/// Error making a package.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// A file or folder.
    #[error("{what} {}", path.display())]
    File {
        /// The operation, such as "read".
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// A program needed for packing is missing.
    #[error("no program {0}; run: scripts/setup dist")]
    NoTool(String),
    /// A program failed.
    #[error("{program} failed: {output}")]
    Tool {
        /// The program.
        program: String,
        /// Its output to stderr.
        output: String,
    },
    /// A program to pack is not for Linux on a known processor.
    #[error("{}: {why}", path.display())]
    Program {
        /// The file.
        path: PathBuf,
        /// The error in it.
        why: &'static str,
    },
    /// A path that an archive cannot hold.
    #[error("the path {0} is too long for an archive")]
    LongPath(String),
    /// The changelog has no such version.
    #[error("CHANGELOG.md has no section for {0}")]
    NoVersion(String),
    /// The output of cargo about the dependencies could not be parsed.
    #[error("unexpected output of cargo: {0}")]
    Cargo(String),
    /// A list of installed files names one outside of its prefix.
    #[error("{}: {line:?} is not a path below the prefix", list.display())]
    Outside {
        /// The list.
        list: PathBuf,
        /// The line.
        line: String,
    },
}

impl PackageError {
    /// An error with a file.
    pub(crate) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
