//! Commands on another host.

use std::io;

use model::change::ChangeError;

/// A way to run the program on another host.
pub trait Remote {
    /// Name of the host, for messages.
    fn host(&self) -> &str;

    /// Runs `pathtwin tune WORDS` as root there, with `input`; its output. No word has anything
    /// that a shell expands.
    ///
    /// # Errors
    /// The host cannot be reached, or the command failed there.
    fn tune(&self, words: &[&str], input: &[u8]) -> Result<Vec<u8>, RemoteError>;
}

/// A command on a far host that failed.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The program that reaches the host cannot be run.
    #[error("run {program}: {error}")]
    Start {
        /// Its name.
        program: &'static str,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// The command failed there.
    #[error("`pathtwin tune {command}` on {host} failed: {message}")]
    Failed {
        /// Its first word.
        command: String,
        /// The host.
        host: String,
        /// Its output.
        message: String,
        /// Its exit code, if it ended by itself.
        exit: Option<i32>,
    },
    /// Nobody changed the host by hand.
    #[error("nobody changed {host} within {} min; nothing was changed here either", limit.as_secs() / 60)]
    NotMade {
        /// The host.
        host: String,
        /// The timeout.
        limit: std::time::Duration,
    },
    /// An Advice that cannot be sent.
    #[error("write the advice as JSON: {0}")]
    Advice(#[source] serde_json::Error),
    /// A plan that cannot be read or sent.
    #[error("the plan of {host}: {error}")]
    Plan {
        /// The host.
        host: String,
        /// The error.
        #[source]
        error: ChangeError,
    },
}
