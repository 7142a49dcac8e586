//! Exit codes, and errors with theirs.

use std::{io, process::ExitCode};

use model::text::Value;

use crate::say::say;

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
    /// Stopped by Ctrl-C, as shells report it.
    pub const INTERRUPTED: u8 = 130;
}

/// An error with the exit code it leads to.
pub struct Failure {
    /// Exit code, from [`code`].
    pub code: u8,
    /// The message.
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
        use lab::LabError::{
            Batch, CacheSetting, FilesWritable, Kernel, Lacks, NoCache, NoCongestion, NoGuest,
            NoNode, NoProgram, NotRoot, Seccomp, Segment, Stopped,
        };
        use lab::batch::BatchError as E;
        let lacks = matches!(
            error,
            NoGuest(_) | Kernel(_) | Lacks(_) | NotRoot | NoCache | FilesWritable
        );
        let code = match &error {
            Batch(E::Start { .. }) => code::LACKS,
            Batch(E::Refused { .. } | E::Unreachable { .. }) => code::FAILED,
            Batch(_) => code::USE,
            Segment(lab::segment::SegmentError::Differs { .. }) => code::FAILED,
            Segment(_) | CacheSetting { .. } | Seccomp(_) => code::USE,
            Stopped => code::INTERRUPTED,
            NoCongestion { .. } | NoNode { .. } | NoProgram(_) => code::USE,
            _ if lacks => code::LACKS,
            _ => code::FAILED,
        };
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

impl From<measure::key::KeyError> for Failure {
    fn from(error: measure::key::KeyError) -> Self {
        let code = match error.is_wrong_use() {
            true => code::USE,
            false => code::FAILED,
        };
        Self::new(code, error)
    }
}

impl From<iperf3::arguments::ArgumentError> for Failure {
    fn from(error: iperf3::arguments::ArgumentError) -> Self {
        let code = match &error {
            iperf3::arguments::ArgumentError::Resolve { .. } => code::FAILED,
            _ => code::USE,
        };
        Self::new(code, error)
    }
}

impl From<host::observe::ObserveError> for Failure {
    fn from(error: host::observe::ObserveError) -> Self {
        use host::observe::ObserveError as E;
        let code = match &error {
            E::Interval(_) | E::Duration { .. } => code::USE,
            E::Missing(_) => code::LACKS,
            E::Refused(_) => code::FAILED,
        };
        Self::new(code, error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(code::FAILED, error)
    }
}

/// The exit code of the program; a failure is printed first.
pub fn of(result: Result<ExitCode, Failure>) -> ExitCode {
    result.unwrap_or_else(|failure| {
        let message = message(&failure.error);
        say!("pathtwin: {}", model::safe::lines(&message));
        ExitCode::from(failure.code)
    })
}

/// The text of an error and its causes. A cause that is part of the text already
/// is not repeated: some errors include theirs.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain() {
        // Texts already contain translations of common system errors.
        let of_system = cause.downcast_ref::<io::Error>().map(Value::from);
        let is_told = of_system.is_some_and(|cause| message.contains(&cause.to_string()));
        // A parser's ends with a line break, which a text that includes it has not.
        let cause = cause.to_string();
        let cause = cause.trim_end();
        if message.is_empty() {
            message.push_str(cause);
        } else if !is_told && !message.contains(cause) {
            message.push_str(": ");
            message.push_str(cause);
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Open(io::Error);

    impl std::fmt::Display for Open {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "cannot open x: {}; try another file", self.0)
        }
    }

    impl std::error::Error for Open {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_cause_that_an_error_includes_is_not_repeated() {
        let error = anyhow::Error::new(Open(io::Error::other("the disk is gone")));
        assert_eq!(
            message(&error),
            "cannot open x: the disk is gone; try another file"
        );
        let error = error.context("read the plan");
        assert_eq!(
            message(&error),
            "read the plan: cannot open x: the disk is gone; try another file"
        );
    }

    /// Bug: `measure --plan` printed the parser's message twice.
    #[test]
    fn a_message_that_ends_with_a_line_break_is_not_repeated() {
        let plan = measure::plans::parse("name = ").map_err(anyhow::Error::new);
        let error = plan.map(drop).unwrap_err().context("plan.toml");
        let message = message(&error);
        assert_eq!(message.matches("TOML parse error").count(), 1, "{message}");
    }

    /// Bug: after Ctrl-C, `measure --lab` and `fix --lab` ended with 4, a failed run.
    #[cfg(feature = "lab")]
    #[test]
    fn ctrl_c_in_the_lab_is_an_interruption() {
        assert_eq!(
            Failure::from(lab::LabError::Stopped).code,
            code::INTERRUPTED
        );
    }

    /// EACCES is 13 (include/uapi/asm-generic/errno-base.h). The text of an error already contained
    /// a translation, and the system's message was appended.
    #[test]
    fn what_the_system_reports_is_not_repeated_in_other_words() {
        let denied = io::Error::from_raw_os_error(13);
        let why = Value::from(&denied);
        let error = anyhow::Error::new(denied).context(format!("cannot open x: {why}"));
        assert_eq!(message(&error), "cannot open x: permission denied");
    }
}
