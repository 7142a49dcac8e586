//! TLS by rustls with the roots of the system, as for PostgreSQL in the history.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{InvalidDnsNameError, ServerName},
};

/// Error of TLS.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    /// No certificate can name such a host.
    #[error(transparent)]
    Name(#[from] InvalidDnsNameError),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

/// The roots of the system.
pub(super) fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// A session with a host over a connection to it.
///
/// # Errors
/// No certificate can name such a host. What the host shows is checked when it is first written to.
pub(super) fn session(
    host: &str,
    stream: TcpStream,
    roots: RootCertStore,
) -> Result<impl Read + Write, TlsError> {
    let name = ServerName::try_from(host.to_owned())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let session = ClientConnection::new(Arc::new(config), name)?;
    Ok(StreamOwned::new(session, stream))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::net::TcpListener;

    use super::*;
    use crate::Url;

    /// A certificate for `localhost` and its key, as DER.
    fn certificate(folder: &std::path::Path) -> (Vec<u8>, Vec<u8>) {
        let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
            -subj /CN=localhost -addext subjectAltName=DNS:localhost \
            -addext basicConstraints=critical,CA:FALSE -keyout key.pem -outform DER -out cert.der && \
            openssl pkcs8 -topk8 -nocrypt -in key.pem -outform DER -out key.der";
        let made = std::process::Command::new("sh")
            .args(["-c", script])
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let read = |name| std::fs::read(folder.join(name)).unwrap();
        (read("cert.der"), read("key.der"))
    }

    /// Answers one request over TLS, if the client accepts the certificate.
    fn answer(listener: &TcpListener, certificate: Vec<u8>, key: Vec<u8>) -> Option<String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.into()],
                rustls::pki_types::PrivatePkcs8KeyDer::from(key).into(),
            )
            .unwrap();
        let (stream, _) = listener.accept().unwrap();
        let session = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(session, stream);
        let mut text = Vec::new();
        while !text.ends_with(b"{\"a\":1}") {
            let mut piece = [0; 256];
            let n = stream.read(&mut piece).ok().filter(|n| *n > 0)?;
            text.extend_from_slice(&piece[..n]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
        stream.flush().ok()?;
        String::from_utf8(text).ok()
    }

    #[test]
    fn a_message_is_posted_over_tls_to_the_host_that_its_certificate_names() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = certificate(folder.path());
        let mut trusted = RootCertStore::empty();
        trusted.add(certificate.clone().into()).unwrap();
        for (host, roots, taken) in [
            ("localhost", trusted.clone(), true),
            // Another name, and an authority that nobody knows.
            ("127.0.0.1", trusted, false),
            ("localhost", RootCertStore::empty(), false),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let (certificate, key) = (certificate.clone(), key.clone());
            let server = std::thread::spawn(move || answer(&listener, certificate, key));
            let url = Url::parse(&format!("https://{host}:{port}/hook")).unwrap();
            let posted = url.connect().and_then(|stream| {
                let session = session(host, stream, roots)?;
                url.exchange(session, b"{\"a\":1}")
            });
            assert_eq!(posted.is_ok(), taken, "{host}: {posted:?}");
            assert_eq!(server.join().unwrap().is_some(), taken);
        }
    }
}
