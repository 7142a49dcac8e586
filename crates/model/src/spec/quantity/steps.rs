//! Errors of changes of a rate, of traces, and of distributions of a delay.

use std::{fmt, io};

use crate::{
    cell::{Rule, bounds::MAX_STEPS},
    text::Value,
};

/// Error parsing a trace or a list of changes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum StepsError {
    #[error("\"{0}\" is not a change; write a time and a rate, such as \"5s 20mbit\"")]
    NotStep(String),
    #[error("\"{0}\" is not a quantile; write a share and a delay, such as \"99% 20ms\"")]
    NotQuantile(String),
    #[error("the name of the file is missing; write for instance \"trace:lte.csv\"")]
    NoFile,
    #[error("read {file}: {why}")]
    Unread { file: String, why: ReadError },
    #[error(
        "{file} has not been read; traces are read for the spec of a command, not for a value of \
         --set"
    )]
    NotLoaded { file: String },
    #[error(
        "{file}: line 1: neither \"seconds,mbit\" nor whole milliseconds; a trace is a CSV file with that \
         header, or one of mahimahi"
    )]
    NoTrace { file: String },
    #[error("{file}: line {line}: {text:?} is not two numbers, seconds and Mbit/s")]
    NotRow {
        file: String,
        line: usize,
        text: String,
    },
    #[error("{file}: line {line}: {text:?} is not whole milliseconds that do not decrease")]
    NotMillis {
        file: String,
        line: usize,
        text: String,
    },
    #[error("{file}: {why}")]
    Trace { file: String, why: Box<Rule> },
    #[error("{file}: more than {MAX_STEPS} changes; shorten the trace")]
    TooLong { file: String },
}

/// Error of reading a file, comparable so that errors of specs are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    kind: io::ErrorKind,
    /// Number of the system's error, if it is one.
    errno: Option<i32>,
}

impl From<&io::Error> for ReadError {
    fn from(error: &io::Error) -> Self {
        Self {
            kind: error.kind(),
            errno: error.raw_os_error(),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = match self.errno {
            Some(errno) => io::Error::from_raw_os_error(errno),
            None => self.kind.into(),
        };
        Value::from(&error).fmt(f)
    }
}

impl std::error::Error for ReadError {}
