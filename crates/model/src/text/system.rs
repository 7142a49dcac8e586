//! Texts of the operating system's errors.

use std::io;

use super::template::{Text, Value};
use crate::text;

/// An error of input or output can carry a text as its reason: `io::Error::other(text!(...))`.
impl std::error::Error for Text {}

/// The usual errors of sockets and files have translations, and an error of this program carries
/// its own text; any other is a name, with the system's own words.
impl From<&io::Error> for Value {
    fn from(error: &io::Error) -> Self {
        match worded(error) {
            Some(text) => Self::Text(text),
            None => Self::Name(error.to_string()),
        }
    }
}

/// As of a [`Value`].
impl From<&io::Error> for Text {
    fn from(error: &io::Error) -> Self {
        worded(error).unwrap_or_else(|| Self::name(error.to_string()))
    }
}

fn worded(error: &io::Error) -> Option<Text> {
    match error.get_ref() {
        Some(own) => own.downcast_ref::<Text>().cloned(),
        None => known(error.kind()),
    }
}

fn known(kind: io::ErrorKind) -> Option<Text> {
    Some(match kind {
        io::ErrorKind::ConnectionRefused => text!("connection refused"),
        io::ErrorKind::ConnectionReset => text!("connection reset by the other end"),
        io::ErrorKind::ConnectionAborted => text!("connection aborted"),
        io::ErrorKind::NotConnected => text!("not connected"),
        io::ErrorKind::BrokenPipe => text!("connection closed by the other end"),
        io::ErrorKind::UnexpectedEof => text!("connection closed too early"),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => text!("timed out"),
        io::ErrorKind::HostUnreachable => text!("host unreachable"),
        io::ErrorKind::NetworkUnreachable => text!("network unreachable"),
        io::ErrorKind::NetworkDown => text!("network down"),
        io::ErrorKind::AddrInUse => text!("address in use"),
        io::ErrorKind::AddrNotAvailable => text!("address not available on this host"),
        io::ErrorKind::PermissionDenied => text!("permission denied"),
        io::ErrorKind::NotFound => text!("not found"),
        io::ErrorKind::Unsupported => text!("not supported"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_connection_is_a_text_and_other_words_are_kept() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(matches!(Value::from(&refused), Value::Text(_)));
        let own = io::Error::new(io::ErrorKind::TimedOut, "no ticket came");
        assert_eq!(Value::from(&own).to_string(), "no ticket came");
    }

    #[test]
    fn the_text_of_an_error_of_this_program_keeps_its_values() {
        let text = text!("an answer of {length} bytes", length = 7_u64);
        let error = io::Error::other(text.clone());
        assert_eq!(error.to_string(), "an answer of 7 bytes");
        assert_eq!(Value::from(&error), Value::Text(text.clone()));
        assert_eq!(Text::from(&error), text);
    }

    #[test]
    fn an_error_without_a_translation_is_a_name() {
        // EMSGSIZE (include/uapi/asm-generic/errno.h).
        let error = io::Error::from_raw_os_error(90);
        assert_eq!(Text::from(&error), Text::name(error.to_string()));
    }
}
