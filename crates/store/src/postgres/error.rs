//! Errors of the certificates and keys that a URL names.

use std::{
    io,
    path::{Path, PathBuf},
};

use rustls::pki_types::pem;

/// Reason why no TLS connection can be set up with the files that a URL names.
#[derive(Debug, thiserror::Error)]
pub(super) enum TrustError {
    /// A file cannot be used.
    #[error("{parameter}={}: {why}", .file.display())]
    File {
        /// Parameter of the URL that names it.
        parameter: &'static str,
        file: PathBuf,
        why: FileError,
    },
    /// Certificate and key do not belong together.
    #[error(
        "sslcert={} and sslkey={} do not go together: {why}",
        .certificate.display(),
        .key.display()
    )]
    Identity {
        certificate: PathBuf,
        key: PathBuf,
        why: rustls::Error,
    },
    /// The system has no root certificates.
    #[error(
        "sslrootcert=system: this host has no root certificates; install ca-certificates, or give \
         sslrootcert=FILE"
    )]
    NoSystemRoots,
    /// The cryptographic provider lacks the default protocol versions.
    #[error(transparent)]
    Provider(rustls::Error),
}

/// Reason why a file of certificates or of a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("{0}; give a file with certificates in PEM")]
    Certificates(Box<dyn std::error::Error + Send + Sync>),
    #[error("a certificate in it: {0}")]
    Root(rustls::Error),
    #[error("others may read it; run chmod 600 on it")]
    Readable,
    #[error(
        "there is no private key in PEM without a passphrase in it; openssl pkey takes one off"
    )]
    NoKey,
    #[error("{0}")]
    Key(pem::Error),
}

impl FileError {
    /// From reading a file of certificates.
    pub(super) fn certificates(error: pem::Error) -> Self {
        match error {
            pem::Error::Io(e) => Self::Certificates(e.into()),
            e => Self::Certificates(e.to_string().into()),
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
