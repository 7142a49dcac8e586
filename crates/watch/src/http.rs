//! A page for this host alone: answers GET with a text that another thread replaces.
//!
//! One request a connection, one connection at a time, both bounded in size and time. Only requests
//! that name this host are answered, so that no page of the web can read the text by a name that
//! resolves to 127.0.0.1 (DNS rebinding).

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Most bytes of a request's head.
const LARGEST: usize = 8192;
/// Most fields of it.
const FIELDS: usize = 64;
/// Time for a request, and for its answer.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The type of metrics (Prometheus, exposition formats).
const TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The text that is served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<String>>);

impl Shared {
    /// Replaces it.
    pub(crate) fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    fn get(&self) -> String {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Serves the text at `/metrics` on an address from now on, until the process ends. Returns the
/// address, with the port that the kernel chose for 0.
///
/// # Errors
/// The address cannot be used.
pub(crate) fn serve(address: SocketAddr, shared: Shared) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let bound = listener.local_addr()?;
    std::thread::Builder::new()
        .name("metrics".to_owned())
        .spawn(move || {
            for stream in listener.incoming() {
                match stream {
                    // A client that is slow or gone loses its answer, and nobody else.
                    Ok(stream) => drop(answer(stream, &shared)),
                    // Descriptors may be short for a while.
                    Err(_) => std::thread::sleep(TIMEOUT),
                }
            }
        })?;
    Ok(bound)
}

fn answer(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let until = std::time::Instant::now() + TIMEOUT;
    let mut head = Vec::new();
    let request = loop {
        let mut piece = [0; 1024];
        let n = stream.read(&mut piece)?;
        head.extend_from_slice(&piece[..n]);
        match requested(&head) {
            Some(request) => break request,
            None if n == 0 || head.len() > LARGEST || std::time::Instant::now() > until => {
                break Requested::Malformed;
            }
            None => {}
        }
    };
    let (status, body, with_body) = match request {
        Requested::Metrics { body } => ("200 OK", shared.get(), body),
        Requested::Other => ("404 Not Found", "there is /metrics\n".to_owned(), true),
        Requested::OtherHost => (
            "421 Misdirected Request",
            "only names of this host are served: use 127.0.0.1 or localhost\n".to_owned(),
            true,
        ),
        Requested::OtherMethod => ("405 Method Not Allowed", "only GET\n".to_owned(), true),
        Requested::Malformed => ("400 Bad Request", "no request\n".to_owned(), true),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {TYPE}\r\nContent-Length: {}\r\nConnection: close\r\n\
         X-Content-Type-Options: nosniff\r\nContent-Security-Policy: default-src 'none'\r\n\
         Cache-Control: no-store\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if with_body {
        stream.write_all(body.as_bytes())?;
    }
    Ok(())
}

/// What was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Requested {
    Metrics { body: bool },
    Other,
    OtherHost,
    OtherMethod,
    Malformed,
}

/// Reads a request; `None` while its head is not whole.
fn requested(text: &[u8]) -> Option<Requested> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(text) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return None,
        Err(_) => return Some(Requested::Malformed),
    }
    let hosts: Vec<&[u8]> = request
        .headers
        .iter()
        .filter(|field| field.name.eq_ignore_ascii_case("host"))
        .map(|field| field.value)
        .collect();
    let own = matches!(hosts[..], [host] if std::str::from_utf8(host).is_ok_and(is_own));
    let path = request
        .path
        .map(|path| path.split('?').next().unwrap_or_default());
    Some(match (own, request.method, path) {
        (false, ..) => Requested::OtherHost,
        (_, Some("GET"), Some("/metrics")) => Requested::Metrics { body: true },
        (_, Some("HEAD"), Some("/metrics")) => Requested::Metrics { body: false },
        (_, Some("GET" | "HEAD"), _) => Requested::Other,
        _ => Requested::OtherMethod,
    })
}

/// Whether a field `Host` names this host: `localhost` or a loopback address, with any port.
fn is_own(host: &str) -> bool {
    let host = host.trim();
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.ip().is_loopback();
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        || name.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn get(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn only_requests_that_name_this_host_are_answered() {
        let shared = Shared::default();
        shared.set("pathtwin_x 1\n".to_owned());
        let address = serve("127.0.0.1:0".parse().unwrap(), shared).unwrap();
        let of = |line: &str, host: &str| {
            get(address, &format!("{line} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
        };
        for host in ["localhost:9100", "127.0.0.1", "[::1]:80", "LOCALHOST"] {
            let text = of("GET /metrics", host);
            assert!(text.starts_with("HTTP/1.1 200"), "{text}");
            assert!(text.ends_with("\r\n\r\npathtwin_x 1\n"), "{text}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "192.0.2.1", ""] {
            assert!(
                of("GET /metrics", host).starts_with("HTTP/1.1 421"),
                "{host}"
            );
        }
        let twice = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n";
        assert!(get(address, twice).starts_with("HTTP/1.1 421"));
        assert!(of("GET /", "localhost").starts_with("HTTP/1.1 404"));
        assert!(of("POST /metrics", "localhost").starts_with("HTTP/1.1 405"));
        assert!(get(address, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
        let head = of("HEAD /metrics", "localhost");
        assert!(
            head.contains("Content-Length: 13") && head.ends_with("\r\n\r\n"),
            "{head}"
        );
    }
}
