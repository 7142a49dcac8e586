//! Reasons of failed connections to a server, and their remedies.

use std::{error::Error as _, io};

use rustls::{CertificateError, Error};

use super::tls::{Check, Roots, Tls};

/// The client library's message if the server does not support TLS.
const NO_TLS: &str = "server does not support TLS";

/// Returns why a connection failed.
pub(super) fn why(error: &postgres::Error, tls: &Tls) -> String {
    let Some(source) = error.source() else {
        return super::message(error);
    };
    if source.to_string() == NO_TLS {
        return "the server does not offer TLS; turn it on there (ssl = on), or give \
                sslmode=prefer to go on without"
            .to_owned();
    }
    let inner = source
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    match inner.and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::InvalidCertificate(error)) => format!("TLS: {}", certificate(error, tls)),
        Some(error) => format!("TLS: {error}"),
        None => super::message(error),
    }
}

fn certificate(error: &CertificateError, tls: &Tls) -> String {
    match error {
        // A bad signature: a root of the same name with another key, for instance a renewed one.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => match &tls.roots {
            Some(Roots::File(file)) => format!(
                "no root in {} has signed the server's certificate; give the root that signed it \
                 by sslrootcert=FILE",
                file.display()
            ),
            _ => "no root of this host has signed the server's certificate; give the one that \
                  did by sslrootcert=FILE"
                .to_owned(),
        },
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => format!(
            "the server's certificate is for {}, not for {}; connect by a name it is for, or leave \
             the name unchecked by sslmode=verify-ca",
            names(presented),
            expected.to_str()
        ),
        CertificateError::ExpiredContext { .. } | CertificateError::Expired => {
            "the server's certificate has expired; renew it there".to_owned()
        }
        CertificateError::NotValidYetContext { .. } | CertificateError::NotValidYet => {
            "the server's certificate is not valid yet; check the clocks of both hosts".to_owned()
        }
        error => format!(
            "the server's certificate cannot be used: {error}; it has to be X.509 version 3{}",
            match tls.check() {
                Check::Nothing => "",
                _ => ", and no authority's unless sslrootcert is that very certificate",
            }
        ),
    }
}

/// The names of a certificate, which rustls reports as `DnsName("db.example")`.
fn names(presented: &[String]) -> String {
    if presented.is_empty() {
        return "no name in its subjectAltName (a common name alone does not count)".to_owned();
    }
    let bare = |name: &String| match name.split_once('(') {
        Some((_, inside)) => inside.trim_end_matches(')').trim_matches('"').to_owned(),
        None => name.clone(),
    };
    let names: Vec<String> = presented.iter().map(bare).collect();
    names.join(", ")
}
