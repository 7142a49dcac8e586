//! Minimal HTTP client for messages: one POST per connection, over TLS for `https`.
//!
//! No client library is needed for a single kind of request.

#[cfg(feature = "tls")]
mod tls;

use std::{
    fmt,
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use model::{text, text::Text};

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
    /// TLS.
    #[cfg(feature = "tls")]
    Tls(#[from] tls::TlsError),
    /// This build has no TLS.
    #[cfg(not(feature = "tls"))]
    NoTls,
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
            #[cfg(feature = "tls")]
            Self::Tls(error) => Text::name(error.to_string()),
            #[cfg(not(feature = "tls"))]
            Self::NoTls => text!("this pathtwin was built without TLS"),
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

    /// True if it needs TLS, and this build has none.
    pub(crate) fn lacks_tls(&self) -> bool {
        self.tls && !cfg!(feature = "tls")
    }

    /// Posts JSON, and returns the status of the response.
    ///
    /// # Errors
    /// The host cannot be reached or is not the one its certificate names, or its response is not
    /// HTTP.
    pub(crate) fn post(&self, body: &[u8]) -> Result<u16, PostError> {
        let stream = self.connect()?;
        match self.tls {
            true => self.exchange_by_tls(stream, body),
            false => self.exchange(stream, body),
        }
    }

    #[cfg(feature = "tls")]
    fn exchange_by_tls(&self, stream: TcpStream, body: &[u8]) -> Result<u16, PostError> {
        self.exchange(tls::session(&self.host, stream, tls::roots())?, body)
    }

    #[cfg(not(feature = "tls"))]
    fn exchange_by_tls(&self, _: TcpStream, _: &[u8]) -> Result<u16, PostError> {
        Err(PostError::NoTls)
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
                Ok(stream) => {
                    stream.set_read_timeout(Some(TIMEOUT))?;
                    stream.set_write_timeout(Some(TIMEOUT))?;
                    return Ok(stream);
                }
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
}
