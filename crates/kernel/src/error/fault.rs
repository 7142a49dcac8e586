//! Faults of images, sources and programs used by a build.

use std::io;
use std::process::ExitStatus;

/// Fault of a file that should be an image.
#[derive(Debug, thiserror::Error)]
pub enum ImageFault {
    /// It cannot be found.
    #[error("{0}")]
    NotFound(io::Error),
    /// Not an ELF file.
    #[error("it is not a program")]
    NotProgram,
    /// It is another program.
    #[error("it is no User Mode Linux with time travel")]
    NotTimeTravel,
    /// It was cut or replaced.
    #[error("it has {found} bytes and should have {expected}")]
    Size {
        /// Its size in bytes.
        found: u64,
        /// The size in its document.
        expected: u64,
    },
    /// It was changed.
    #[error("its SHA-256 is {found} and should be {expected}")]
    Hash {
        /// Its hash.
        found: String,
        /// The hash in its document.
        expected: String,
    },
    /// Its document cannot be read.
    #[error("its document is damaged: {0}")]
    Document(serde_json::Error),
    /// It carries no configuration.
    #[error("it does not carry its configuration (CONFIG_IKCONFIG)")]
    NoConfig,
    /// The document beside it describes another image.
    #[error("the image.json beside it describes another image: one of the two was changed")]
    OtherDocument,
    /// It lacks the patch for seeded entropy.
    #[error("it has no seeded entropy, so its runs would not repeat")]
    NotSeeded,
    /// An archive or folder without an image.
    #[error("there is no file linux in it")]
    NotInside,
    /// An archive that cannot be unpacked; the last line that was said about it.
    #[error(
        "it was cut or changed on its way, and cannot be unpacked ({0}): compare it with the .sha256 file beside it, \
         and get it again"
    )]
    Archive(String),
}

/// Fault of a kernel source.
#[derive(Debug, thiserror::Error)]
pub enum SourceFault {
    /// It cannot be found.
    #[error("{0}")]
    NotFound(io::Error),
    /// Its name is of no kind that can be opened.
    #[error(
        "it is neither a linux-source package (.deb), nor a tarball (.tar, .tar.xz, ...), nor a folder"
    )]
    UnknownKind,
    /// A package without a kernel's tarball.
    #[error("it is no linux-source package")]
    NotSourcePackage,
    /// A tarball or folder without a kernel.
    #[error("there is no kernel source in it")]
    NoKernel,
    /// The downloaded bytes are others than those of the package.
    #[error("it is not the package that was asked for: its SHA-256 is another one")]
    WrongPackage,
    /// apt does not name the file of a package.
    #[error("apt-get does not name the file of the package {0}")]
    NoPackageFile(String),
}

/// End of a failed program of the build.
#[derive(Debug)]
pub enum StepEnd {
    /// It could not be started.
    NotStarted {
        /// The program.
        program: String,
        /// The reason.
        why: io::Error,
    },
    /// It ended with this status.
    Status(ExitStatus),
}

impl std::fmt::Display for StepEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotStarted { program, why } => write!(f, "cannot start {program}: {why}"),
            Self::Status(status) => status.fmt(f),
        }
    }
}
