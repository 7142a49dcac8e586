//! Errors of the control channel.

use std::{fmt, io};

use model::{text, text::Text};

use crate::wire::{Refusal, VERSION};

/// Reason why a channel failed.
#[derive(Debug)]
pub enum ChannelError {
    /// The connection failed.
    Io(io::Error),
    /// The peer refused.
    Refused(Refusal),
    /// The peer does not speak the protocol.
    Foreign,
    /// Wrong key, or bytes were changed on the path.
    Crypto,
    /// A message longer than allowed, bytes.
    TooLong(usize),
    /// A reply to another request.
    Number {
        /// Number of the request.
        due: u32,
        /// Number in the reply.
        got: u32,
    },
    /// An invalid message.
    Message(serde_json::Error),
}

impl ChannelError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Io(error) => text!("control connection: {error}", error = error),
            Self::Refused(refusal) => refused(*refusal),
            Self::Foreign => text!("the far end is not a pathtwin server"),
            Self::Crypto => text!("the key does not fit, or bytes were changed on the path"),
            Self::TooLong(bytes) => text!("a message of more than {n} bytes", n = *bytes),
            Self::Number { due, got } => text!(
                "it answers request {got}, not request {due}",
                got = *got,
                due = *due
            ),
            Self::Message(why) => text!("a message that cannot be read: {why}", why = why),
        }
    }
}

fn refused(refusal: Refusal) -> Text {
    match refusal {
        Refusal::Welcome => text!("the far end gave no reason"),
        Refusal::Key => {
            text!(
                "the far end has a different key: copy its key file here, and select it with --key"
            )
        }
        Refusal::Busy => {
            text!("the far end has reached its limit of clients: try again later")
        }
        Refusal::Version(version) => text!(
            "the far end speaks version {far} of the protocol, this program {near}: update the older",
            far = u32::from(version),
            near = u32::from(VERSION)
        ),
    }
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for ChannelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Message(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ChannelError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<snow::Error> for ChannelError {
    fn from(_: snow::Error) -> Self {
        Self::Crypto
    }
}
