//! Heads of requests (RFC 9112), with the fields that browsers add to them.

use percent_encoding::percent_decode_str;

/// Longest head that is read, bytes.
pub const LARGEST_HEAD: usize = 8 << 10;
/// Longest body that is read into memory, bytes: that of a small form.
pub const LARGEST_BODY: u64 = 4 << 10;
/// Longest query, bytes: the limit of ndt7 for metadata of clients.
pub const LARGEST_QUERY: usize = 4096;
/// Maximum number of header fields.
const FIELDS: usize = 64;

/// A request. Names of fields are compared without regard to case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Its method.
    pub method: String,
    /// Its path, decoded, without the query.
    pub path: String,
    /// Pairs of the query, decoded, in their order.
    pub query: Vec<(String, String)>,
    /// Fields of the head, in their order.
    pub fields: Vec<(String, Vec<u8>)>,
    /// Length of the body that follows; 0 if none.
    pub length: u64,
    /// The body, if it was read.
    pub body: Vec<u8>,
    /// True if the connection ends after the response.
    pub close: bool,
}

/// Error in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// It breaks the rules of HTTP/1.1.
    #[error("the request is not HTTP/1.1")]
    Malformed,
    /// Its head or query is too long.
    #[error("the head of the request is too long")]
    TooLong,
    /// Its body has no length given in advance.
    #[error("the body of the request needs a Content-Length")]
    NoLength,
}

impl Request {
    /// The value of a field that occurs once, as text.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut all = self.all(name);
        let value = all.next()?;
        let once = all.next().is_none();
        std::str::from_utf8(value).ok().filter(|_| once)
    }

    /// The value of a key of the query, if it occurs once.
    pub fn value(&self, key: &str) -> Option<&str> {
        let mut all = self.query.iter().filter(|(own, _)| own == key);
        let (_, value) = all.next()?;
        all.next().is_none().then_some(value)
    }

    /// Returns true if a list of tokens in a field, such as `Connection`, contains this one.
    pub fn has_token(&self, name: &str, token: &str) -> bool {
        self.all(name)
            .filter_map(|value| std::str::from_utf8(value).ok())
            .flat_map(|value| value.split(','))
            .any(|own| own.trim().eq_ignore_ascii_case(token))
    }

    /// All values of a field.
    pub fn all<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        let fields = self.fields.iter();
        fields
            .filter(move |(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_slice())
    }

    /// The value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.field("cookie")?.split(';');
        let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// A value of a form in the body.
    pub fn form(&self, name: &str) -> Option<String> {
        let text = std::str::from_utf8(&self.body).ok()?;
        let mut all = pairs(text).into_iter().filter(|(own, _)| own == name);
        all.next().map(|(_, value)| value)
    }
}

/// Parses a request at the start of `bytes`, with the length of its head; `None` while that is
/// incomplete.
///
/// # Errors
/// The bytes are not a request, or it is too long.
pub fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, BadRequest> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length <= LARGEST_HEAD => length,
        Ok(httparse::Status::Partial) if bytes.len() < LARGEST_HEAD => return Ok(None),
        Err(httparse::Error::TooManyHeaders) | Ok(_) => return Err(BadRequest::TooLong),
        Err(_) => return Err(BadRequest::Malformed),
    };
    let target = head.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if !path.starts_with('/') || head.version != Some(1) {
        return Err(BadRequest::Malformed);
    }
    if query.len() > LARGEST_QUERY {
        return Err(BadRequest::TooLong);
    }
    let path = percent_decode_str(path).decode_utf8();
    let fields = head.headers.iter();
    let mut request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        path: path.map_err(|_| BadRequest::Malformed)?.into_owned(),
        query: pairs(query),
        fields: fields
            .map(|field| (field.name.to_owned(), field.value.to_vec()))
            .collect(),
        ..Request::default()
    };
    request.length = body_length(&request)?;
    request.close = request.has_token("connection", "close");
    Ok(Some((request, length)))
}

/// The length of the body. Chunks are not read: browsers send them for no form and no blob.
fn body_length(request: &Request) -> Result<u64, BadRequest> {
    if request.all("transfer-encoding").next().is_some() {
        return Err(BadRequest::NoLength);
    }
    let mut all = request.all("content-length");
    let Some(first) = all.next() else {
        return Ok(0);
    };
    if all.next().is_some() || !first.iter().all(u8::is_ascii_digit) {
        return Err(BadRequest::Malformed);
    }
    let text = std::str::from_utf8(first).ok();
    text.and_then(|text| text.parse().ok())
        .ok_or(BadRequest::Malformed)
}

/// Pairs of a query or a form (WHATWG URL, application/x-www-form-urlencoded).
fn pairs(text: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| {
        let spaced = text.replace('+', " ");
        percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
    };
    let parts = text.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(key, value)| (decoded(key), decoded(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Request {
        parse(text.as_bytes()).unwrap().unwrap().0
    }

    #[test]
    fn path_query_cookie_and_length_are_read() {
        let request = read(
            "POST /path?name=a%2Fb+c&x HTTP/1.1\r\nHost: h\r\ncookie: a=1; b=2\r\n\
             Content-Length: 3\r\nConnection: keep-alive, Upgrade\r\n\r\nabc",
        );
        assert_eq!(request.path, "/path");
        assert_eq!(request.value("name"), Some("a/b c"));
        assert_eq!(request.value("x"), Some(""));
        assert_eq!(request.cookie("b"), Some("2"));
        assert_eq!(request.length, 3);
        assert!(request.has_token("connection", "upgrade") && !request.close);
    }

    /// Two lengths, or a length with chunks, enable request smuggling (RFC 9112, 11.2).
    #[test]
    fn a_body_with_two_lengths_is_refused() {
        for fields in [
            "Content-Length: 3\r\nContent-Length: 4",
            "Content-Length: 3\r\nTransfer-Encoding: chunked",
            "Content-Length: +3",
            "Content-Length: 99999999999999999999",
        ] {
            let text = format!("POST / HTTP/1.1\r\n{fields}\r\n\r\n");
            assert!(parse(text.as_bytes()).is_err(), "{fields}");
        }
    }

    #[test]
    fn a_field_that_is_there_twice_has_no_value() {
        let request = read("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n");
        assert_eq!(request.field("Host"), None);
        assert_eq!(request.all("host").count(), 2);
    }

    #[test]
    fn a_head_without_an_end_is_refused_before_it_fills_the_memory() {
        let mut text = b"GET / HTTP/1.1\r\nX: ".to_vec();
        text.resize(LARGEST_HEAD - 1, b'a');
        assert_eq!(parse(&text), Ok(None));
        text.push(b'a');
        assert_eq!(parse(&text), Err(BadRequest::TooLong));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn encoded_values_round_trip(value in "\\PC{0,40}") {
            let encoded = percent_encoding::utf8_percent_encode(
                &value, percent_encoding::NON_ALPHANUMERIC);
            let request = read(&format!("GET /?a={encoded} HTTP/1.1\r\n\r\n"));
            prop_assert_eq!(request.value("a"), Some(value.as_str()));
        }
    }
}
