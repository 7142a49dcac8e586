//! Errors of running an attack.

use std::{io, process::ExitStatus};

use iperf3::wire::State;
use model::{
    run::{Invalid, RunError},
    text::Text,
};
use traffic::wire::{
    ChannelError,
    message::{Code, Outcome, Reply},
};

/// Error of running an attack, independent of the program under attack.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The operating system.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The control channel.
    #[error("{0}")]
    Channel(#[from] ChannelError),
    /// The server rejected a request that the attack needs.
    #[error("the server refused: {why}")]
    Refused {
        /// Kind of reason.
        code: Code,
        /// The reason; a server of an earlier version has only a sentence.
        why: Text,
    },
    /// The server answered another request.
    #[error("the server answered request {number}, not request {due}")]
    Order {
        /// Number of the answered request.
        number: u32,
        /// Number of the first request without an answer.
        due: u32,
    },
    /// The server answered a request with a reply to another kind of request.
    #[error("the server answered {reply:?} to `{request}`")]
    Reply {
        /// The reply.
        reply: Box<Reply>,
        /// Name of the request.
        request: &'static str,
    },
    /// The outcome is one of another kind of load.
    #[error("the server reported {0:?} of a UDP load")]
    Outcome(Box<Outcome>),
    /// The iperf3 server is in another state than it should be, or in none.
    #[error("iperf3: state {0:?} where the parameters are due")]
    Iperf3State(Option<State>),
    /// The iperf3 server refused an ordinary test.
    #[error("an ordinary iperf3 test was refused")]
    Iperf3Refused,
    /// The server does not offer a service.
    #[error("the server offers no {0}")]
    NotOffered(&'static str),
    /// The server did not accept the proof of an address.
    #[error("an address was not proved")]
    NotProved,
    /// The server ended.
    #[error("the server ended, {status}: {message}")]
    ServerEnded {
        /// Its exit status.
        status: ExitStatus,
        /// Its output.
        message: String,
    },
    /// The server did not start to serve in time.
    #[error("the server does not serve: {message}")]
    NotServing {
        /// Its output.
        message: String,
    },
    /// A command of the program, run as preparation, failed.
    #[error("`{command}` failed: {message}")]
    Command {
        /// Its first words.
        command: &'static str,
        /// Its output on standard error.
        message: String,
    },
    /// The legitimate client did not measure what its plan contains.
    #[error("the legitimate client measured {figures:?}, {invalid:?}")]
    Figures {
        /// The measured figures.
        figures: Vec<f64>,
        /// Reasons of invalid samples.
        invalid: Vec<Vec<Invalid>>,
    },
    /// A document cannot be written or read as JSON.
    #[error("JSON of a document: {0}")]
    Json(#[from] serde_json::Error),
    /// The legitimate client's output is not a Run.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The history cannot be changed.
    #[error("the history: {0}")]
    History(#[from] rusqlite::Error),
    /// The thread of the attacker panicked.
    #[error("the attacker ended by a panic")]
    Panicked,
    /// The attacker's address is not of IPv4.
    #[error("the attack needs an address of IPv4")]
    NotIpv4,
    /// This host does not support it.
    #[error("needs {0}")]
    Needs(&'static str),
}
