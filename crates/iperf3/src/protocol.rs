//! Violations of the protocol by the other end.

use std::fmt;

use model::{
    text,
    text::{Text, Value},
};

use super::state::State;

/// Violation of the protocol by the other end: an unknown or unexpected message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// A byte where a state is due.
    State(i8),
    /// A state that may not follow the one before.
    Undue(State),
    /// A JSON text that is not read.
    TooLong {
        /// Its length, bytes.
        length: usize,
        /// The limit, bytes.
        limit: usize,
    },
    /// A text that is not JSON.
    NotJson {
        /// Line of the error, from 1.
        line: usize,
        /// And its column.
        column: usize,
    },
    /// Results without a number that every version sends.
    Results(&'static str),
    /// A stream with a number that none has.
    StreamId(i64),
    /// A stream that was opened and is not in the results.
    NoStream(u32),
}

impl ProtocolError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::State(byte) => text!(
                "byte {byte} is not a state of a test",
                byte = Value::Count(f64::from(*byte))
            ),
            Self::Undue(state) => text!("state {state} was not due", state = state.name()),
            Self::TooLong { length, limit } => text!(
                "a JSON text of {length}, where {limit} are allowed",
                length = Value::Bytes(*length as f64),
                limit = Value::Bytes(*limit as f64)
            ),
            Self::NotJson { line, column } => text!(
                "not JSON at column {column} of line {line}",
                column = *column,
                line = *line
            ),
            Self::Results(name) => text!("results without a usable `{name}`", name = *name),
            Self::StreamId(id) => text!(
                "results of a stream {id}, a number that no stream has",
                id = Value::Count(*id as f64)
            ),
            Self::NoStream(id) => text!("no results of stream {id}", id = *id),
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for ProtocolError {}

impl From<serde_json::Error> for ProtocolError {
    fn from(error: serde_json::Error) -> Self {
        Self::NotJson {
            line: error.line(),
            column: error.column(),
        }
    }
}
