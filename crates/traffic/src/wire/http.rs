//! Heads of HTTP/1.1 messages, as far as pathtwin's measurement uses it (RFC 9112): requests
//! without a body, responses of a known length.

/// Longest head that is taken in, bytes.
pub const LONGEST: usize = 8 << 10;

/// Maximum number of header fields.
const FIELDS: usize = 64;

/// The bytes of a request for the only resource.
pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: pathtwin\r\nAccept: */*\r\n\r\n";

/// State of a message that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed<T> {
    /// A whole head, and how many bytes it has.
    Whole(T, usize),
    /// Incomplete.
    More,
    /// Not such a message.
    Bad(Status),
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// True if it requests the only resource.
    pub known: bool,
    /// True if the connection ends after the response.
    pub close: bool,
}

/// The statuses that are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The response follows.
    Ok,
    /// The request breaks the rules, or has a body.
    BadRequest,
    /// The resource does not exist.
    NotFound,
    /// Only GET is supported.
    MethodNotAllowed,
    /// The head is longer than is taken in.
    TooLong,
    /// Not HTTP/1.1.
    Version,
}

impl Status {
    fn text(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::TooLong => "431 Request Header Fields Too Large",
            Self::Version => "505 HTTP Version Not Supported",
        }
    }
}

/// The bytes of a response's head. `length`: bytes of the body that follows it.
pub fn answer(status: Status, length: u64, close: bool) -> Vec<u8> {
    let allow = if status == Status::MethodNotAllowed {
        "Allow: GET\r\n"
    } else {
        ""
    };
    let close = if close { "Connection: close\r\n" } else { "" };
    format!(
        "HTTP/1.1 {}\r\nContent-Type: application/octet-stream\r\nContent-Length: {length}\r\n{allow}{close}\r\n",
        status.text()
    )
    .into_bytes()
}

/// Reads a request from the front of `bytes`. More than [`LONGEST`] bytes without an end are
/// refused, so no more need be buffered.
pub fn request(bytes: &[u8]) -> Parsed<Request> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let seen = &bytes[..bytes.len().min(LONGEST)];
    let length = match head.parse(seen) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return more(bytes),
        Err(error) => return Parsed::Bad(status(error)),
    };
    if !strict(&seen[..length]) {
        return Parsed::Bad(Status::BadRequest);
    }
    if head.version != Some(1) {
        return Parsed::Bad(Status::Version);
    }
    let count = |name: &str| named(head.headers, name).count();
    // RFC 9112 section 3.2: exactly one. A body, which is permitted but meaningless in a GET (RFC
    // 9110 section 9.3.1), would only need memory.
    let body = named(head.headers, "content-length").any(|value| value != b"0");
    if count("host") != 1 || body || count("transfer-encoding") > 0 {
        return Parsed::Bad(Status::BadRequest);
    }
    if head.method != Some("GET") {
        return Parsed::Bad(Status::MethodNotAllowed);
    }
    let request = Request {
        known: head.path == Some("/"),
        close: closes(head.headers),
    };
    Parsed::Whole(request, length)
}

/// Parses the head of a response with status 200 at the start of `bytes`; returns the length of its
/// body.
pub fn response(bytes: &[u8]) -> Parsed<u64> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Response::new(&mut fields);
    let seen = &bytes[..bytes.len().min(LONGEST)];
    let length = match head.parse(seen) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return more(bytes),
        Err(error) => return Parsed::Bad(status(error)),
    };
    let mut lengths = named(head.headers, "content-length");
    let body = lengths.next().and_then(number);
    let plain = named(head.headers, "transfer-encoding").next().is_none();
    match (head.version, head.code, body, lengths.next(), plain) {
        (Some(1), Some(200), Some(body), None, true) => Parsed::Whole(body, length),
        _ => Parsed::Bad(Status::BadRequest),
    }
}

fn more<T>(bytes: &[u8]) -> Parsed<T> {
    if bytes.len() >= LONGEST {
        Parsed::Bad(Status::TooLong)
    } else {
        Parsed::More
    }
}

fn status(error: httparse::Error) -> Status {
    match error {
        httparse::Error::TooManyHeaders => Status::TooLong,
        httparse::Error::Version => Status::Version,
        _ => Status::BadRequest,
    }
}

/// Returns true if every line ends as required by RFC 9112 section 2.2, and no empty line precedes
/// the first. The parser is more lenient, and a request that two parsers read differently is
/// unusable for a measurement.
fn strict(head: &[u8]) -> bool {
    let bare = |(i, byte): (usize, &u8)| *byte == b'\n' && (i == 0 || head[i - 1] != b'\r');
    !head.iter().enumerate().any(bare) && head.first() != Some(&b'\r')
}

fn named<'a>(
    fields: &'a [httparse::Header<'_>],
    name: &'a str,
) -> impl Iterator<Item = &'a [u8]> + 'a {
    fields
        .iter()
        .filter(move |field| field.name.eq_ignore_ascii_case(name))
        .map(|field| field.value)
}

/// Digits alone (RFC 9110 section 8.6), of a number that fits.
fn number(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text)
        .ok()
        .filter(|_| digits)?
        .parse()
        .ok()
}

/// Returns true if `Connection` has the option `close` (RFC 9112 section 9.6).
fn closes(fields: &[httparse::Header<'_>]) -> bool {
    named(fields, "connection")
        .flat_map(|value| value.split(|byte| *byte == b','))
        .any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GET: Request = Request {
        known: true,
        close: false,
    };

    #[test]
    fn the_own_request_and_answer_are_read() {
        assert_eq!(request(REQUEST), Parsed::Whole(GET, REQUEST.len()));
        let head = answer(Status::Ok, 1234, false);
        assert_eq!(response(&head), Parsed::Whole(1234, head.len()));
        let refused = answer(Status::NotFound, 0, true);
        assert_eq!(response(&refused), Parsed::Bad(Status::BadRequest));
    }

    #[test]
    fn bytes_after_a_request_are_not_read() {
        let two = [REQUEST, b"GET "].concat();
        assert_eq!(request(&two), Parsed::Whole(GET, REQUEST.len()));
    }

    #[test]
    fn requests_that_break_the_rules_are_refused() {
        let refused = |text: &str, status| {
            assert_eq!(request(text.as_bytes()), Parsed::Bad(status), "{text:?}");
        };
        refused("GET / HTTP/1.0\r\nHost: a\r\n\r\n", Status::Version);
        refused("GET / HTTP/1.1\r\n\r\n", Status::BadRequest);
        refused(
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            Status::BadRequest,
        );
        refused("GET / HTTP/1.1\nHost: a\n\n", Status::BadRequest);
        refused("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Status::BadRequest);
        refused(
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
            Status::BadRequest,
        );
        refused(
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            Status::BadRequest,
        );
        refused(
            "POST / HTTP/1.1\r\nHost: a\r\n\r\n",
            Status::MethodNotAllowed,
        );
        refused("\0\0\0\0", Status::BadRequest);
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(FIELDS + 1));
        refused(&many, Status::TooLong);
    }

    #[test]
    fn a_head_without_an_end_is_refused_at_the_limit() {
        let mut head = b"GET / HTTP/1.1\r\nHost: a\r\nX: ".to_vec();
        head.resize(LONGEST - 1, b'x');
        assert_eq!(request(&head), Parsed::More);
        head.push(b'x');
        assert_eq!(request(&head), Parsed::Bad(Status::TooLong));
        head.extend_from_slice(b"\r\n\r\n");
        assert_eq!(request(&head), Parsed::Bad(Status::TooLong));
    }

    #[test]
    fn close_is_found_among_options() {
        let asked = |value: &str| {
            let text = format!("GET / HTTP/1.1\r\nhost: a\r\nconnection: {value}\r\n\r\n");
            let Parsed::Whole(request, _) = request(text.as_bytes()) else {
                panic!("{text}")
            };
            request.close
        };
        assert!(asked("close"));
        assert!(asked("TE, Close"));
        assert!(!asked("keep-alive"));
        assert!(!asked("closed"));
    }

    #[test]
    fn a_length_is_digits_alone() {
        let read = |value: &str| {
            let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {value}\r\n\r\n");
            matches!(response(text.as_bytes()), Parsed::Whole(..))
        };
        assert!(read("17"));
        for wrong in [
            "",
            "+17",
            "1 7",
            "0x17",
            "99999999999999999999",
            "1\r\nContent-Length: 1",
        ] {
            assert!(!read(wrong), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>()) {
            let _ = (request(&bytes), response(&bytes));
        }

        /// Input close to a request is the hardest for a parser.
        #[test]
        fn requests_with_changed_bytes_are_read_or_refused(
            changes in proptest::collection::vec((0..REQUEST.len(), any::<u8>()), 0..4),
            cut in 0..REQUEST.len(),
        ) {
            let mut bytes = REQUEST.to_vec();
            for (at, byte) in changes {
                bytes[at] = byte;
            }
            if let Parsed::Whole(_, length) = request(&bytes) {
                prop_assert!(length <= bytes.len());
            }
            let _ = request(&bytes[..cut]);
        }

        #[test]
        fn every_part_of_a_request_asks_for_more(cut in 0..REQUEST.len()) {
            prop_assert_eq!(request(&REQUEST[..cut]), Parsed::More);
        }

        #[test]
        fn every_length_round_trips(length in any::<u64>()) {
            let head = answer(Status::Ok, length, false);
            prop_assert_eq!(response(&head), Parsed::Whole(length, head.len()));
        }
    }
}
