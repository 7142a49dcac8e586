//! Exit codes, and errors that know theirs.

use std::process::ExitCode;

/// Exit codes (see `docs/reference/exit-codes.md`).
pub mod code {
    /// A verdict: a check failed.
    pub const VERDICT: u8 = 1;
    /// Wrong use: arguments or spec.
    pub const USE: u8 = 2;
    /// The environment lacks something.
    pub const LACKS: u8 = 3;
    /// A run failed.
    pub const FAILED: u8 = 4;
    /// Stopped by Ctrl-C, as a shell would say it.
    pub const INTERRUPTED: u8 = 130;
}

/// An error with the exit code it leads to.
pub struct Failure {
    /// One of [`code`].
    pub code: u8,
    /// What to say.
    pub error: anyhow::Error,
}

impl Failure {
    /// An error that leads to an exit code.
    pub fn new(code: u8, error: impl Into<anyhow::Error>) -> Self {
        Self {
            code,
            error: error.into(),
        }
    }
}

#[cfg(feature = "lab")]
impl From<lab::LabError> for Failure {
    fn from(error: lab::LabError) -> Self {
        use lab::LabError::{FilesWritable, Kernel, Lacks, NoCache, NoGuest, NotRoot};
        let lacks = matches!(
            error,
            NoGuest(_) | Kernel(_) | Lacks(_) | NotRoot | NoCache | FilesWritable
        );
        let code = if lacks { code::LACKS } else { code::FAILED };
        Self::new(code, error)
    }
}

#[cfg(feature = "history")]
impl From<store::StoreError> for Failure {
    fn from(error: store::StoreError) -> Self {
        use store::StoreError as E;
        let code = match &error {
            E::Place { .. }
            | E::Url { .. }
            | E::Missing(_)
            | E::Ambiguous { .. }
            | E::TooLarge { .. }
            | E::Format { .. } => code::USE,
            E::Open { .. } | E::Newer { .. } | E::Full { .. } | E::Busy { .. } => code::LACKS,
            E::Database { .. } | E::Damaged { .. } => code::FAILED,
        };
        Self::new(code, error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(code::FAILED, error)
    }
}

/// What the program ends with; a failure is said first.
pub fn of(result: Result<ExitCode, Failure>) -> ExitCode {
    result.unwrap_or_else(|failure| {
        eprintln!(
            "pathtwin: {}",
            model::safe::lines(&format!("{:#}", failure.error))
        );
        ExitCode::from(failure.code)
    })
}
