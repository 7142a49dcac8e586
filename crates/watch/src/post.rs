//! Minimal HTTP client for messages: one POST per connection, over TLS for `https`.
//!
//! TLS is rustls with the roots of the system, as for PostgreSQL in the history, so that no client
//! library is needed for a single kind of request.

use std::{
    fmt,
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use model::{text, text::Text};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{InvalidDnsNameError, ServerName},
};

/// Time to connect to one address, and without a byte.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes read of a response: the status is in its head.
const LARGEST: u64 = 64 << 10;
/// Maximum number of header fields of a response.
const FIELDS: usize = 64;

/// A text that is not a URL of a webhook. It is not repeated: its path may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct UrlError;

impl UrlError {
    /// The error for reports in any language.
    pub fn text(self) -> Text {
        text!("must be http://HOST[:PORT]/PATH or https://HOST[:PORT]/PATH")
    }
}

/// Error posting a message.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub(crate) enum PostError {
    /// The host has no address.
    NoAddress,
    /// No certificate can name such a host.
    Name(#[from] InvalidDnsNameError),
    /// TLS.
    Tls(#[from] rustls::Error),
    /// The connection.
    Io(#[from] io::Error),
    /// The response is of another protocol.
    NotHttp,
}

impl PostError {
    /// The error with its values, for reports in any language. Messages of the TLS library are
    /// quoted.
    pub(crate) fn text(&self) -> Text {
        match self {
            Self::NoAddress => text!("its name has no address"),
            Self::Name(error) => Text::name(error.to_string()),
            Self::Tls(error) => Text::name(error.to_string()),
            Self::Io(error) => Text::from(error),
            Self::NotHttp => text!("its response is not HTTP"),
        }
    }
}

/// Destination of posted messages: `http://HOST[:PORT][/PATH]`, or `https://`.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    tls: bool,
    host: String,
    port: u16,
    /// Path and query.
    path: String,
}

impl Url {
    /// Reads a URL. No error repeats it: its path may be a secret.
    ///
    /// # Errors
    /// It is not a URL of `http` or `https`, or has a user or a part after `#`.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let (tls, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => return Err(UrlError),
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let clean = rest.bytes().all(|c| c.is_ascii_graphic());
        if authority.is_empty() || authority.contains('@') || rest.contains('#') || !clean {
            return Err(UrlError);
        }
        let usual = if tls { 443 } else { 80 };
        let numbered = authority
            .rsplit_once(':')
            .filter(|(host, _)| !host.ends_with(':'));
        let (host, port) = match numbered {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| UrlError)?)
            }
            _ => (authority, usual),
        };
        Ok(Self {
            tls,
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            path: match path.starts_with('/') {
                true => path.to_owned(),
                false => format!("/{path}"),
            },
        })
    }

    /// Posts JSON, and returns the status of the response.
    ///
    /// # Errors
    /// The host cannot be reached or is not the one its certificate names, or its response is not
    /// HTTP.
    pub(crate) fn post(&self, body: &[u8]) -> Result<u16, PostError> {
        self.post_by(body, roots)
    }

    fn post_by(
        &self,
        body: &[u8],
        roots: impl FnOnce() -> RootCertStore,
    ) -> Result<u16, PostError> {
        let stream = self.connect()?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        if !self.tls {
            return self.exchange(stream, body);
        }
        let name = ServerName::try_from(self.host.clone())?;
        let session = ClientConnection::new(tls(roots())?, name)?;
        self.exchange(StreamOwned::new(session, stream), body)
    }

    fn exchange(&self, mut stream: impl Read + Write, body: &[u8]) -> Result<u16, PostError> {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {host}:{}\r\nUser-Agent: pathtwin\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.path,
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        stream.flush()?;
        let mut text = Vec::new();
        // A peer may end TLS without a close notification; the data before it is used.
        let read = stream.take(LARGEST).read_to_end(&mut text);
        match status(&text) {
            Some(status) => Ok(status),
            None => {
                read?;
                Err(PostError::NotHttp)
            }
        }
    }

    fn connect(&self) -> Result<TcpStream, PostError> {
        let mut error = PostError::NoAddress;
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, TIMEOUT) {
                Ok(stream) => return Ok(stream),
                Err(refused) => error = refused.into(),
            }
        }
        Err(error)
    }
}

/// Displayed without its path, which may be a secret.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}/...", self.host, self.port)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Url({self})")
    }
}

/// The roots of the system.
fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn tls(roots: RootCertStore) -> Result<Arc<ClientConfig>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn status(text: &[u8]) -> Option<u16> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Response::new(&mut fields);
    head.parse(text)
        .ok()
        .filter(httparse::Status::is_complete)?;
    head.code
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::net::TcpListener;

    use super::*;

    #[test]
    fn urls_are_read_and_their_paths_are_not_shown() {
        let url = Url::parse("https://ntfy.example/secret?x=1").unwrap();
        assert_eq!((url.port, url.path.as_str()), (443, "/secret?x=1"));
        assert!(!format!("{url} {url:?}").contains("secret"));
        let url = Url::parse("http://[2001:db8::1]:8080").unwrap();
        assert_eq!(
            (url.host.as_str(), url.port, url.path.as_str()),
            ("2001:db8::1", 8080, "/")
        );
        for wrong in [
            "ftp://x/secret",
            "http://",
            "http://u:secret@h/",
            "http://h:x/secret",
            "http://h/a b",
        ] {
            let error = Url::parse(wrong).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_message_arrives_complete_and_its_status_is_returned() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = Vec::new();
            while !text.ends_with(b"{\"a\":1}") {
                let mut piece = [0; 256];
                let n = stream.read(&mut piece).unwrap();
                assert!(n > 0);
                text.extend_from_slice(&piece[..n]);
            }
            stream.write_all(b"HTTP/1.1 202 Accepted\r\n\r\n").unwrap();
            String::from_utf8(text).unwrap()
        });
        let url = Url::parse(&format!("http://127.0.0.1:{port}/hook")).unwrap();
        assert_eq!(url.post(b"{\"a\":1}").unwrap(), 202);
        let text = server.join().unwrap();
        assert!(text.starts_with("POST /hook HTTP/1.1\r\n"), "{text}");
        assert!(text.contains("Content-Length: 7\r\n"), "{text}");
    }

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
            let posted = url.post_by(b"{\"a\":1}", || roots);
            assert_eq!(posted.is_ok(), taken, "{host}: {posted:?}");
            assert_eq!(server.join().unwrap().is_some(), taken);
        }
    }
}
