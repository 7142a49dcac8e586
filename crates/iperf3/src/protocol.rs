//! How the other end can break the protocol.

use super::state::State;

/// What the other end sent that the protocol does not have, or not now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// A byte where a state is due.
    #[error("byte {0} stands for no state of a test")]
    State(i8),
    /// A state that may not follow the one before.
    #[error("state {0:?} was not due")]
    Undue(State),
    /// A JSON text that is not read.
    #[error("a JSON text of {length} bytes, where {limit} are allowed")]
    TooLong {
        /// Its length, bytes.
        length: usize,
        /// The limit, bytes.
        limit: usize,
    },
    /// A text that is no JSON.
    #[error("not JSON at column {column} of line {line}")]
    NotJson {
        /// Line of what is wrong, from 1.
        line: usize,
        /// And its column.
        column: usize,
    },
    /// Results without a number that every version sends.
    #[error("results without a usable `{0}`")]
    Results(&'static str),
    /// A stream with a number that none has.
    #[error("results of a stream {0}, a number that no stream has")]
    StreamId(i64),
    /// A stream that was opened and is not in the results.
    #[error("no results of stream {0}")]
    NoStream(u32),
}

impl From<serde_json::Error> for ProtocolError {
    fn from(error: serde_json::Error) -> Self {
        Self::NotJson {
            line: error.line(),
            column: error.column(),
        }
    }
}
