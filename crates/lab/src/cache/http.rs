//! Minimal HTTP client: one request per connection.
//!
//! Requests use HTTP/1.0, so that a server sends the body unencoded and ends it with the connection
//! (RFC 1945): two kinds of requests do not justify a client library with ten more crates.

use std::{
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    str::FromStr,
    time::Duration,
};

use crate::CacheSettingError;

/// Time to connect to one address.
const CONNECT: Duration = Duration::from_secs(2);
/// Time without a byte.
const SILENCE: Duration = Duration::from_secs(10);
/// Maximum bytes of a response: far above the largest result.
const LARGEST: u64 = 1 << 30;
/// Maximum number of header fields of a response.
const FIELDS: usize = 64;

/// The base of a cache: `http://HOST[:PORT][/PREFIX]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    /// `HOST[:PORT]`
    authority: String,
    /// Path without the trailing slash.
    prefix: String,
}

impl FromStr for Url {
    type Err = CacheSettingError;

    fn from_str(text: &str) -> Result<Self, CacheSettingError> {
        let rest = text
            .strip_prefix("http://")
            .ok_or_else(|| CacheSettingError::Scheme(text.to_owned()))?;
        let (authority, prefix) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let clean = |text: &str| text.bytes().all(|c| c.is_ascii_graphic());
        if authority.is_empty() || authority.contains(['@', '?', '#']) || !clean(rest) {
            return Err(CacheSettingError::Url(text.to_owned()));
        }
        Ok(Self {
            authority: authority.to_owned(),
            prefix: prefix.trim_end_matches('/').to_owned(),
        })
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "http://{}{}", self.authority, self.prefix)
    }
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Status code.
    pub(super) status: u16,
    /// Body.
    pub(super) body: Vec<u8>,
}

impl Url {
    /// Gets the object at `path`, which begins with a slash.
    pub(super) fn get(&self, path: &str) -> io::Result<Answer> {
        self.request("GET", path, None)
    }

    /// Sends a body to `path`.
    pub(super) fn put(&self, path: &str, body: &[u8]) -> io::Result<Answer> {
        self.request("PUT", path, Some(body))
    }

    fn request(&self, method: &str, path: &str, body: Option<&[u8]>) -> io::Result<Answer> {
        let mut stream = self.connect()?;
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        let length = body.map_or_else(String::new, |body| {
            let length = body.len();
            format!("Content-Type: application/octet-stream\r\nContent-Length: {length}\r\n")
        });
        let head = format!(
            "{method} {}{path} HTTP/1.0\r\nHost: {}\r\nUser-Agent: pathtwin\r\n{length}\r\n",
            self.prefix, self.authority
        );
        stream.write_all(head.as_bytes())?;
        // A server that rejects the body may respond and close before it has read it.
        let sent = stream.write_all(body.unwrap_or_default());
        let mut text = Vec::new();
        let read = stream.take(LARGEST).read_to_end(&mut text);
        match parse(&text) {
            Some(answer) => Ok(answer),
            None => {
                sent?;
                read?;
                Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "its answer is not HTTP",
                ))
            }
        }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let last = self.authority.rsplit(':').next().unwrap_or_default();
        let has_port = self.authority.contains(':') && last.bytes().all(|c| c.is_ascii_digit());
        let place = match has_port {
            true => self.authority.clone(),
            false => format!("{}:80", self.authority),
        };
        let mut error = io::Error::new(io::ErrorKind::NotFound, "its name has no address");
        for address in place.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT) {
                Ok(stream) => return Ok(stream),
                Err(refused) => error = refused,
            }
        }
        Err(error)
    }
}

/// Parses a response; `None` if it is malformed or truncated.
fn parse(text: &[u8]) -> Option<Answer> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(length) = head.parse(text).ok()? else {
        return None;
    };
    let body = text.get(length..)?;
    let stated = head
        .headers
        .iter()
        .find(|field| field.name.eq_ignore_ascii_case("content-length"))
        .and_then(|field| std::str::from_utf8(field.value).ok()?.trim().parse().ok());
    let body = match stated {
        Some(length) => body.get(..length)?,
        None => body,
    };
    Some(Answer {
        status: head.code?,
        body: body.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_answer_is_read_and_a_cut_one_is_not() {
        let text = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let answer = parse(text).unwrap();
        assert_eq!(
            (answer.status, answer.body.as_slice()),
            (200, &b"hello"[..])
        );
        assert_eq!(parse(&text[..text.len() - 1]), None);
        // Without a length, the end of the connection is the end of the body (RFC 1945, 7.2.2).
        let answer = parse(b"HTTP/1.1 404 Not Found\r\n\r\nno").unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (404, &b"no"[..]));
    }

    #[test]
    fn urls_round_trip() {
        for text in ["http://a", "http://a:8080/x/y", "http://[::1]:80"] {
            assert_eq!(text.parse::<Url>().unwrap().to_string(), text);
        }
        for text in [
            "a",
            "https://a",
            "http://",
            "http:///x",
            "http://u@a",
            "http://a b",
        ] {
            assert!(text.parse::<Url>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&text);
        }
    }
}
