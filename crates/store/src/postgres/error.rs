//! Errors of the certificates and keys that a URL names.

use std::{
    io,
    path::{Path, PathBuf},
};

use model::{text, text::Text};
use rustls::pki_types::pem;

/// Reason why no TLS connection can be set up with the files that a URL names.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub(super) enum TrustError {
    /// A file cannot be used.
    File {
        /// Parameter of the URL that names it.
        parameter: &'static str,
        file: PathBuf,
        why: FileError,
    },
    /// Certificate and key do not belong together.
    Identity {
        certificate: PathBuf,
        key: PathBuf,
        why: rustls::Error,
    },
    /// The system has no root certificates.
    NoSystemRoots,
    /// The cryptographic provider lacks the default protocol versions.
    Provider(rustls::Error),
}

/// Reason why a file of certificates or of a key cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub(super) enum FileError {
    Read(#[from] io::Error),
    Certificates(Text),
    Root(rustls::Error),
    Readable,
    NoKey,
    Key(pem::Error),
}

impl TrustError {
    /// The error with its values, for reports in any language. Messages of the TLS library are
    /// quoted.
    pub(super) fn text(&self) -> Text {
        match self {
            Self::File {
                parameter,
                file,
                why,
            } => text!(
                "{parameter}={file}: {why}",
                parameter = *parameter,
                file = file,
                why = why.text()
            ),
            Self::Identity {
                certificate,
                key,
                why,
            } => text!(
                "sslcert={certificate} and sslkey={key} do not go together: {why}",
                certificate = certificate,
                key = key,
                why = why.to_string()
            ),
            Self::NoSystemRoots => text!(
                "sslrootcert=system: this host has no root certificates; install ca-certificates, \
                 or give sslrootcert=FILE"
            ),
            Self::Provider(error) => Text::name(error.to_string()),
        }
    }
}

impl FileError {
    fn text(&self) -> Text {
        match self {
            Self::Read(error) => Text::from(error),
            Self::Certificates(error) => text!(
                "{error}; give a file with certificates in PEM",
                error = error.clone()
            ),
            Self::Root(error) => text!("a certificate in it: {error}", error = error.to_string()),
            Self::Readable => text!("others may read it; run chmod 600 on it"),
            Self::NoKey => text!(
                "it has no private key in PEM without a passphrase; openssl pkey removes a \
                 passphrase"
            ),
            Self::Key(error) => Text::name(error.to_string()),
        }
    }

    /// From reading a file of certificates.
    pub(super) fn certificates(error: pem::Error) -> Self {
        match error {
            pem::Error::Io(e) => Self::Certificates(Text::from(&e)),
            e => Self::Certificates(Text::name(e.to_string())),
        }
    }

    /// From reading a file of a key.
    pub(super) fn key(error: pem::Error) -> Self {
        match error {
            pem::Error::Io(e) => Self::Read(e),
            pem::Error::NoItemsFound => Self::NoKey,
            e => Self::Key(e),
        }
    }

    /// This, of a file that a parameter names.
    pub(super) fn of(self, parameter: &'static str, file: &Path) -> TrustError {
        TrustError::File {
            parameter,
            file: file.to_owned(),
            why: self,
        }
    }
}
