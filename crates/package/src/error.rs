use std::{io, path::PathBuf};

/// Why something could not be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// A file or folder.
    #[error("{what} {}", path.display())]
    File {
        /// What was tried, such as "read".
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A program that packing needs is not there.
    #[error("no program {0}; run: scripts/setup dist")]
    NoTool(String),
    /// A program failed.
    #[error("{program} failed: {output}")]
    Tool {
        /// Which.
        program: String,
        /// What it printed to stderr.
        output: String,
    },
    /// A program that is to be packed is none for Linux on a known processor.
    #[error("{}: {why}", path.display())]
    Program {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A path that an archive cannot hold.
    #[error("the path {0} is too long for an archive")]
    LongPath(String),
    /// The changelog has no such version.
    #[error("CHANGELOG.md has no section for {0}")]
    NoVersion(String),
    /// What cargo prints about the dependencies is not understood.
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
