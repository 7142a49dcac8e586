//! Errors in the URL of a database.

use model::{text, text::Text};

/// Error in a URL. No message contains a possible part of a password.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum UrlError {
    /// It has no `://`.
    NotAUrl,
    /// An `@` or `?` in a user, password or parameter is not percent-encoded.
    Unescaped,
    /// A parameter without `=`, possibly the rest of a value with an `&` in it.
    NoValue,
    /// Percent-encoded bytes that are not UTF-8.
    NotUtf8,
    /// An unknown parameter or wrong value in a URL that has a password as a parameter.
    Parameter,
    /// The client library refuses it: its message.
    Refused(String),
    /// The parameters of TLS contradict each other.
    Tls(#[from] TlsError),
}

impl UrlError {
    /// The error with its values, for reports in any language. The message of the client library is
    /// quoted.
    pub fn text(&self) -> Text {
        match self {
            Self::NotAUrl => text!("it is no URL"),
            Self::Unescaped => {
                text!("in a user, a password or a parameter, @ is written %40 and ? is %3F")
            }
            Self::NoValue => text!("a parameter has no value; in a value, & is written %26"),
            Self::NotUtf8 => text!("a parameter is not UTF-8 behind its percent signs"),
            Self::Parameter => text!(
                "a parameter is not known or has a wrong value; in a password, & is written %26"
            ),
            Self::Refused(message) => Text::name(message),
            Self::Tls(error) => error.text(),
        }
    }
}

/// Error in the TLS parameters of a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub enum TlsError {
    /// An unknown `sslmode`.
    Mode(String),
    /// The system's roots without a check of the name.
    NameUnchecked,
    /// A mode that verifies, without roots to verify by.
    NoRoots,
    /// A certificate without its key, or a key without its certificate.
    HalfIdentity,
}

impl TlsError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Mode(mode) => text!(
                "sslmode={mode} is not known: give disable, prefer, require, verify-ca or \
                 verify-full",
                mode = mode
            ),
            Self::NameUnchecked => text!(
                "sslrootcert=system needs sslmode=verify-full: anybody has a certificate of some \
                 public root"
            ),
            Self::NoRoots => text!(
                "to verify the server, give sslrootcert=FILE, the root that signed its \
                 certificate, or with verify-full sslrootcert=system, the roots of this host"
            ),
            Self::HalfIdentity => text!("sslcert and sslkey go together"),
        }
    }
}
