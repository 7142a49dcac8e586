//! Texts of the operating system's errors.

use std::io;

use super::{Text, Value};
use crate::text;

/// The usual errors of sockets and files have translations; any other is a name, with the system's
/// own words.
impl From<&io::Error> for Value {
    fn from(error: &io::Error) -> Self {
        // Errors of this program carry their own words.
        match known(error.kind()).filter(|_| error.get_ref().is_none()) {
            Some(text) => Self::Text(text),
            None => Self::Name(error.to_string()),
        }
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
}
