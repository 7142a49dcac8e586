#![allow(clippy::unwrap_used)]

use super::*;
use crate::Token;

struct Echo;

impl Service for Echo {
    fn answer(&self, request: &Request) -> Response {
        match request.path.as_str() {
            "/metrics" => Response::metrics("pathtwin_x 1\n"),
            _ => Response::text(Status::NotFound, "not here\n"),
        }
    }
}

fn start(access: Access, connections: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let options = Options {
        access,
        connections,
    };
    serve(listener, options, Arc::new(Echo)).unwrap()
}

fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn get(address: SocketAddr, line: &str, fields: &str) -> String {
    ask(
        address,
        &format!("{line} HTTP/1.1\r\n{fields}\r\nConnection: close\r\n\r\n"),
    )
}

#[test]
fn only_requests_that_name_this_host_are_answered() {
    let address = start(Access::default(), 8);
    let text = get(address, "GET /metrics", "Host: localhost:9100");
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    assert!(text.ends_with("\r\n\r\npathtwin_x 1\n"), "{text}");
    for host in ["Host: evil.example", "Host: 192.0.2.1", "X: y"] {
        let text = get(address, "GET /metrics", host);
        assert!(text.starts_with("HTTP/1.1 421"), "{host}: {text}");
    }
    let twice = get(
        address,
        "GET /metrics",
        "Host: localhost\r\nHost: evil.example",
    );
    assert!(twice.starts_with("HTTP/1.1 421"), "{twice}");
    let head = get(address, "HEAD /metrics", "Host: localhost");
    assert!(
        head.contains("Content-Length: 13") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    assert!(ask(address, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
}

#[test]
fn several_requests_share_a_connection() {
    let address = start(Access::default(), 8);
    let one = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let last = "GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let text = ask(address, &format!("{one}{one}{last}"));
    assert_eq!(text.matches("HTTP/1.1 200").count(), 2, "{text}");
    assert!(text.ends_with("not here\n"), "{text}");
}

#[test]
fn with_a_token_nothing_is_read_without_it() {
    let text = "0123456789abcdef0123456789abcdef";
    let access = Access {
        token: Some(Token::of(text)),
        ..Access::default()
    };
    let address = start(access, 8);
    for fields in [
        "Host: localhost",
        "Host: localhost\r\nAuthorization: Bearer x",
        "Host: localhost\r\nCookie: pathtwin=",
    ] {
        let denied = get(address, "GET /metrics", fields);
        assert!(denied.starts_with("HTTP/1.1 401"), "{denied}");
        assert!(!denied.contains("pathtwin_x"), "{denied}");
    }
    for field in [
        format!("Authorization: Bearer {text}"),
        format!("Cookie: a=b; pathtwin={text}"),
    ] {
        let given = get(
            address,
            "GET /metrics",
            &format!("Host: localhost\r\n{field}"),
        );
        assert!(given.starts_with("HTTP/1.1 200"), "{given}");
    }
    let form = |token: &str| {
        let body = format!("token={token}");
        let fields = format!("Host: localhost\r\nContent-Length: {}", body.len());
        ask(
            address,
            &format!("POST /token HTTP/1.1\r\n{fields}\r\nConnection: close\r\n\r\n{body}"),
        )
    };
    assert!(form("wrong").starts_with("HTTP/1.1 401"));
    let right = form(text);
    assert!(right.starts_with("HTTP/1.1 303"), "{right}");
    let cookie = format!("Set-Cookie: pathtwin={text}; Path=/; HttpOnly; SameSite=Strict");
    assert!(right.contains(&cookie), "{right}");
}

#[test]
fn a_body_longer_than_a_form_is_refused_unread() {
    let address = start(Access::default(), 8);
    let text = get(
        address,
        "POST /metrics",
        "Host: localhost\r\nContent-Length: 99999999",
    );
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
}

#[test]
fn one_address_has_half_of_the_connections_and_gives_them_back() {
    let address = start(Access::default(), 4);
    let idle: Vec<TcpStream> = (0..2)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    // Both are accepted before the third, in the order of their connects.
    let mut third = TcpStream::connect(address).unwrap();
    let mut text = String::new();
    third.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 503"), "{text}");
    drop(idle);
    let until = Instant::now() + Duration::from_secs(20);
    // A rejected request in flight resets the connection, which is also a response.
    let answered = || -> io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text.starts_with("HTTP/1.1 200"))
    };
    while !answered().unwrap_or(false) {
        assert!(Instant::now() < until, "places are not given back");
    }
}
