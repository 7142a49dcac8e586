//! Responses, with headers that deny a page everything it does not need.

/// The policy of pages (Content Security Policy 3): only their own style sheet, script and data,
/// and no embedding.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
     connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; \
     frame-ancestors 'none'";
/// The policy of all responses except pages.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

/// Statuses that are sent (RFC 9110, 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 200.
    Ok,
    /// 204.
    NoContent,
    /// 303: the result is at another address.
    SeeOther,
    /// 400.
    BadRequest,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404.
    NotFound,
    /// 405.
    MethodNotAllowed,
    /// 413.
    ContentTooLarge,
    /// 421: the name of another host.
    MisdirectedRequest,
    /// 426: a WebSocket is required.
    UpgradeRequired,
    /// 500.
    Internal,
    /// 503.
    Unavailable,
}

impl Status {
    /// Number and phrase.
    pub fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::NoContent => "204 No Content",
            Self::SeeOther => "303 See Other",
            Self::BadRequest => "400 Bad Request",
            Self::Unauthorized => "401 Unauthorized",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::ContentTooLarge => "413 Content Too Large",
            Self::MisdirectedRequest => "421 Misdirected Request",
            Self::UpgradeRequired => "426 Upgrade Required",
            Self::Internal => "500 Internal Server Error",
            Self::Unavailable => "503 Service Unavailable",
        }
    }
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: Status,
    /// Its body.
    pub body: Vec<u8>,
    kind: &'static str,
    policy: String,
    /// Bytes of a body that is sent separately.
    length: Option<u64>,
    more: Vec<(&'static str, String)>,
}

impl Response {
    fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: Status::Ok,
            body: body.into(),
            kind,
            policy: NOTHING.to_owned(),
            length: None,
            more: Vec::new(),
        }
    }

    /// A page under [`POLICY`].
    pub fn html(body: impl Into<Vec<u8>>) -> Self {
        Self::new("text/html; charset=utf-8", body).policy(POLICY)
    }

    /// A style sheet.
    pub fn css(body: impl Into<Vec<u8>>) -> Self {
        Self::new("text/css; charset=utf-8", body)
    }

    /// A script.
    pub fn script(body: impl Into<Vec<u8>>) -> Self {
        Self::new("text/javascript; charset=utf-8", body)
    }

    /// Data for a script.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::new("application/json", body)
    }

    /// A text.
    pub fn text(status: Status, body: impl Into<Vec<u8>>) -> Self {
        Self::new("text/plain; charset=utf-8", body).status(status)
    }

    /// Metrics (Prometheus, exposition formats).
    pub fn metrics(body: impl Into<Vec<u8>>) -> Self {
        Self::new("text/plain; version=0.0.4; charset=utf-8", body)
    }

    /// The head of a load of this many bytes, which are sent separately.
    pub fn load(bytes: u64) -> Self {
        Self {
            length: Some(bytes),
            ..Self::new("application/octet-stream", "")
        }
    }

    /// The address where the result is.
    pub fn see_other(address: &str) -> Self {
        Self::text(Status::SeeOther, "").field("Location", address)
    }

    /// With another status.
    #[must_use]
    pub fn status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    /// With another content security policy.
    #[must_use]
    pub fn policy(mut self, policy: impl Into<String>) -> Self {
        self.policy = policy.into();
        self
    }

    /// With one more field. A value that could begin another field is left out.
    #[must_use]
    pub fn field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        if !value.contains(|c: char| c.is_control()) {
            self.more.push((name, value));
        }
        self
    }

    /// The head. `close`: the connection ends after the body.
    pub fn head(&self, close: bool) -> String {
        let mut head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             Content-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\n\
             X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\n",
            self.status.line(),
            self.kind,
            self.length.unwrap_or(self.body.len() as u64),
            self.policy,
        );
        let resource = "Cross-Origin-Resource-Policy";
        if !self.more.iter().any(|(name, _)| *name == resource) {
            head += &format!("{resource}: same-origin\r\n");
        }
        for (name, value) in &self.more {
            head += &format!("{name}: {value}\r\n");
        }
        head += if close {
            "Connection: close\r\n\r\n"
        } else {
            "\r\n"
        };
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_begin_another_field() {
        let response = Response::see_other("/\r\nSet-Cookie: a=b");
        assert!(!response.head(true).contains("Set-Cookie"));
    }

    #[test]
    fn every_response_has_a_policy_and_no_frame_around_it() {
        for response in [
            Response::html("a"),
            Response::css("a"),
            Response::json("{}"),
            Response::text(Status::NotFound, "a"),
        ] {
            let head = response.head(false);
            for field in [
                "Content-Security-Policy: default-src 'none'",
                "frame-ancestors 'none'",
                "X-Content-Type-Options: nosniff",
                "Referrer-Policy: no-referrer",
                "Cross-Origin-Resource-Policy: same-origin",
            ] {
                assert!(head.contains(field), "{field} in {head}");
            }
            assert!(!head.contains("unsafe"), "{head}");
        }
    }
}
