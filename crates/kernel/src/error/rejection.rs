//! Sources that a build did not use, and why.

use std::fmt;

use super::KernelError;
use crate::tested::Refusal;

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

/// The rejections, one a line.
pub(super) fn list(rejections: &[Rejection]) -> String {
    let lines: Vec<String> = rejections.iter().map(|r| format!("  {r}")).collect();
    lines.join("\n")
}

/// Advice to the user if all sources were rejected.
pub(super) fn remedy(rejections: &[Rejection]) -> String {
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
    use std::{os::unix::process::ExitStatusExt, path::PathBuf, process::ExitStatus};

    use super::*;
    use crate::error::StepEnd;

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
