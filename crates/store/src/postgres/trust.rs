//! TLS with a server, by rustls: trusted roots and client certificate.

use std::{fs, os::unix::fs::MetadataExt, path::Path, sync::Arc};

use model::text;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor, verify_server_name,
    },
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature,
        verify_tls13_signature, verify_tls13_signature_with_raw_key,
    },
    pki_types::{
        CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
        pem::{self, PemObject},
    },
    server::ParsedCertificate,
};
use tokio_postgres_rustls::MakeRustlsConnect;
use x509_cert::{
    Certificate,
    der::{Decode, Encode},
};

use super::{
    error::{FileError, TrustError},
    tls::{Check, Roots, Tls},
};

/// The application protocol (PostgreSQL 17, section 54.2.11), without which servers refuse
/// `sslnegotiation=direct`.
const PROTOCOL: &[u8] = b"postgresql";

/// Returns a connector for TLS connections as a URL specifies. Reads the files it names; the error
/// names the unusable file and the reason.
pub(super) fn connector(tls: &Tls) -> Result<MakeRustlsConnect, TrustError> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new(tls, &provider)?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TrustError::Provider)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match &tls.identity {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => config
            .with_client_auth_cert(certificates("sslcert", certificate)?, private_key(key)?)
            .map_err(|why| TrustError::Identity {
                certificate: certificate.clone(),
                key: key.clone(),
                why,
            })?,
    };
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(MakeRustlsConnect::new(config))
}

/// The certificates in a file, at least one.
fn certificates(
    parameter: &'static str,
    file: &Path,
) -> Result<Vec<CertificateDer<'static>>, TrustError> {
    let all: Result<Vec<_>, pem::Error> =
        CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    let why = match all {
        Ok(all) if !all.is_empty() => return Ok(all),
        Ok(_) => FileError::Certificates(text!("it has no certificate")),
        Err(e) => FileError::certificates(e),
    };
    Err(why.of(parameter, file))
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, TrustError> {
    let wrong = |why: FileError| why.of("sslkey", file);
    let about = fs::metadata(file).map_err(|e| wrong(e.into()))?;
    // As in libpq: a user's key must be private to that user; root's key may be readable for a
    // group.
    let others = if about.uid() == 0 { 0o027 } else { 0o077 };
    if about.mode() & others != 0 {
        return Err(wrong(FileError::Readable));
    }
    PrivateKeyDer::from_pem_file(file).map_err(|e| wrong(FileError::key(e)))
}

/// Decides whether a server is the right one.
#[derive(Debug)]
struct Verifier {
    check: Check,
    roots: RootCertStore,
    /// The roots as in the file: a server may present one of them itself.
    given: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    fn new(tls: &Tls, provider: &CryptoProvider) -> Result<Self, TrustError> {
        let mut verifier = Self {
            check: tls.check(),
            roots: RootCertStore::empty(),
            given: Vec::new(),
            algorithms: provider.signature_verification_algorithms,
        };
        match &tls.roots {
            None => {}
            Some(Roots::File(file)) => {
                verifier.given = certificates("sslrootcert", file)?;
                for root in &verifier.given {
                    let added = verifier.roots.add(root.clone());
                    added.map_err(|e| FileError::Root(e).of("sslrootcert", file))?;
                }
            }
            Some(Roots::System) => {
                let found = rustls_native_certs::load_native_certs();
                // A single unusable root among many is ignored.
                let (usable, _) = verifier.roots.add_parsable_certificates(found.certs);
                if usable == 0 {
                    return Err(TrustError::NoSystemRoots);
                }
            }
        }
        Ok(verifier)
    }

    fn check(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        if self.check == Check::Nothing {
            return Ok(());
        }
        let certificate = ParsedCertificate::try_from(shown)?;
        if self
            .given
            .iter()
            .any(|root| root.as_ref() == shown.as_ref())
        {
            // A self-signed certificate, as used by servers without an authority. rustls does not
            // accept a CA certificate as a server's certificate.
            in_time(shown, now)?;
        } else {
            let algorithms = self.algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &certificate,
                &self.roots,
                between,
                now,
                algorithms,
            )?;
        }
        match self.check {
            Check::ChainAndName => verify_server_name(&certificate, name),
            Check::Nothing | Check::Chain => Ok(()),
        }
    }
}

fn parse(certificate: &CertificateDer<'_>) -> Result<Certificate, Error> {
    Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding.into())
}

fn in_time(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let validity = parse(certificate)?.tbs_certificate.validity;
    let not_before = UnixTime::since_unix_epoch(validity.not_before.to_unix_duration());
    let not_after = UnixTime::since_unix_epoch(validity.not_after.to_unix_duration());
    let time = now;
    if time < not_before {
        return Err(CertificateError::NotValidYetContext { time, not_before }.into());
    }
    if time > not_after {
        return Err(CertificateError::ExpiredContext { time, not_after }.into());
    }
    Ok(())
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity, intermediates, server_name, now)?;
        Ok(ServerCertVerified::assertion())
    }

    // The signatures are checked in any case: the password may be bound to the certificate (SCRAM's
    // channel binding), so the server must own its key.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let result = verify_tls13_signature(message, cert, dss, &self.algorithms);
        if result.is_ok() || self.check != Check::Nothing {
            return result;
        }
        // rustls rejects X.509 version 1, as created by `openssl x509 -req`. Only its key is
        // needed.
        let key = parse(cert)?.tbs_certificate.subject_public_key_info;
        let key = key.to_der().map_err(|_| CertificateError::BadEncoding)?;
        let key = SubjectPublicKeyInfoDer::from(key);
        verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, time::Duration};

    use super::*;

    /// Self-signed for `db.test`, common name `common.test`; with its validity as stated by
    /// `openssl x509 -dates`, s since 1970.
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/self-signed.pem");
    const VALID: [u64; 2] = [1_795_297_753, 1_826_833_753];

    fn verify(
        query: [(&'static str, &str); 2],
        name: &'static str,
        at_s: u64,
    ) -> Result<(), Error> {
        let tls = Tls::of_parameters(query.into_iter()).unwrap();
        let verifier = Verifier::new(&tls, &ring::default_provider()).unwrap();
        let shown = CertificateDer::from_pem_file(FILE).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(at_s));
        verifier.check(&shown, &[], &name.try_into().unwrap(), now)
    }

    #[test]
    fn a_trusted_certificate_still_has_its_time() {
        let at = |s| {
            verify(
                [("sslmode", "verify-ca"), ("sslrootcert", FILE)],
                "x.test",
                s,
            )
        };
        assert!(at(VALID[0]).is_ok() && at(VALID[1]).is_ok());
        let error = at(VALID[0] - 1).unwrap_err().to_string();
        assert!(error.contains("not valid yet"), "{error}");
        let error = at(VALID[1] + 1).unwrap_err().to_string();
        assert!(error.contains("expired"), "{error}");
    }

    /// RFC 9525 section 6.3: the common name is no longer used as a name of the server.
    #[test]
    fn a_common_name_is_not_a_name() {
        let full = [("sslmode", "verify-full"), ("sslrootcert", FILE)];
        assert!(verify(full, "db.test", VALID[0]).is_ok());
        assert!(verify(full, "common.test", VALID[0]).is_err());
    }

    #[test]
    fn without_roots_anything_will_do() {
        let require = [("sslmode", "require"), ("sslrootcert", "")];
        assert!(verify(require, "x.test", VALID[1] + 1).is_ok());
    }

    #[test]
    fn a_key_is_readable_by_its_owner_only() {
        let error = private_key(&PathBuf::from(FILE)).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }
}
