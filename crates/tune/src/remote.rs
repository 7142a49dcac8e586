//! Commands on another host.

use std::io;

use model::{change::ChangeError, text, text::Text};

/// A way to run the program on another host.
pub trait Remote {
    /// Name of the host, for messages.
    fn host(&self) -> &str;

    /// Runs `pathtwin tune WORDS` as root there, with `input`; returns its output. Words contain no
    /// characters that a shell expands.
    ///
    /// # Errors
    /// The host cannot be reached, or the command failed there.
    fn tune(&self, words: &[&str], input: &[u8]) -> Result<Vec<u8>, RemoteError>;
}

/// A command on a far host that failed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum RemoteError {
    /// The program that reaches the host cannot be run.
    Start {
        /// Its name.
        program: &'static str,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// The command failed there.
    Failed {
        /// Its first word.
        command: String,
        /// The host.
        host: String,
        /// Its output.
        message: String,
        /// Its exit code, if it exited.
        exit: Option<i32>,
    },
    /// No person changed the host.
    NotMade {
        /// The host.
        host: String,
        /// The timeout.
        limit: std::time::Duration,
    },
    /// An Advice that cannot be sent.
    Advice(#[source] serde_json::Error),
    /// A plan that cannot be read or sent.
    Plan {
        /// The host.
        host: String,
        /// The error.
        #[source]
        error: ChangeError,
    },
}

impl RemoteError {
    /// The error with its values, for reports in any language. Output of the other host is quoted.
    pub fn text(&self) -> Text {
        match self {
            Self::Start { program, error } => {
                text!("run {program}: {error}", program = *program, error = error)
            }
            Self::Failed {
                command,
                host,
                message,
                ..
            } => text!(
                "`pathtwin tune {command}` on {host} failed: {message}",
                command = command,
                host = host,
                message = message
            ),
            Self::NotMade { host, limit } => text!(
                "nobody changed {host} within {n} min; nothing was changed here either",
                host = host,
                n = limit.as_secs() / 60
            ),
            Self::Advice(error) => {
                text!("write the advice as JSON: {error}", error = error)
            }
            Self::Plan { host, error } => {
                text!(
                    "the plan of {host}: {error}",
                    host = host,
                    error = error.text()
                )
            }
        }
    }
}
