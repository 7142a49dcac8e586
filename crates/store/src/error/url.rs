//! Errors in the URL of a database.

/// Error in a URL. No text contains anything that could be part of a password.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    /// It has no `://`.
    #[error("it is no URL")]
    NotAUrl,
    /// An `@` or `?` in a user, password or parameter is not percent-encoded.
    #[error("in a user, a password or a parameter, @ is written %40 and ? is %3F")]
    Unescaped,
    /// A parameter without `=`, possibly the rest of a value with an `&` in it.
    #[error("a parameter has no value; in a value, & is written %26")]
    NoValue,
    /// Percent-encoded bytes that are not UTF-8.
    #[error("a parameter is not UTF-8 behind its percent signs")]
    NotUtf8,
    /// An unknown parameter or wrong value in a URL that has a password as a parameter.
    #[error("a parameter is not known or has a wrong value; in a password, & is written %26")]
    Parameter,
    /// The client library refuses it.
    #[error("{0}")]
    Refused(String),
    /// The parameters of TLS contradict each other.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Error in the TLS parameters of a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// An unknown `sslmode`.
    #[error("sslmode={0} is not known: give disable, prefer, require, verify-ca or verify-full")]
    Mode(String),
    /// The system's roots without a check of the name.
    #[error(
        "sslrootcert=system needs sslmode=verify-full: anybody has a certificate of some public \
         root"
    )]
    NameUnchecked,
    /// A mode that verifies, without roots to verify by.
    #[error(
        "to verify the server, give sslrootcert=FILE, the root that signed its certificate, or \
         with verify-full sslrootcert=system, the roots of this host"
    )]
    NoRoots,
    /// A certificate without its key, or a key without its certificate.
    #[error("sslcert and sslkey go together")]
    HalfIdentity,
}
