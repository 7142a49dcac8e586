//! Access control for pages: requests that name this host, and with a token from other hosts.
//!
//! A web page can make a browser send requests to 127.0.0.1 by a name that resolves to it (DNS
//! rebinding), and would read the responses as same-origin. Such a request carries that name in
//! `Host`; a literal address cannot be rebound.

use std::net::{IpAddr, SocketAddr};

use crate::{Request, Token};

/// The cookie with the token.
pub const COOKIE: &str = "pathtwin";

/// The rules of a server.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Accepted names besides those of this host: the names of a reverse proxy.
    pub names: Vec<String>,
    /// Token that every request must carry; `None` for a server of this host alone.
    pub token: Option<Token>,
    /// True if every literal address is answered: the server is reached from other hosts.
    pub literal: bool,
    /// True if every name is accepted, because nothing secret is served.
    pub any_name: bool,
}

/// Decision on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// It may.
    Yes,
    /// It names another host.
    OtherHost,
    /// It lacks the token.
    NoToken,
}

impl Access {
    /// Judges a request.
    pub fn admits(&self, request: &Request) -> Admitted {
        if !request.field("host").is_some_and(|host| self.answers(host)) {
            return Admitted::OtherHost;
        }
        let Some(token) = &self.token else {
            return Admitted::Yes;
        };
        let bearer = request.field("authorization");
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
        // As in ndt7: its clients cannot send a field.
        let query = request.value("access_token");
        let given = bearer.or_else(|| request.cookie(COOKIE)).or(query);
        match given.is_some_and(|given| token.is(given)) {
            true => Admitted::Yes,
            false => Admitted::NoToken,
        }
    }

    /// Returns true if a field `Host` names this server, with any port.
    pub fn answers(&self, host: &str) -> bool {
        if self.any_name {
            return true;
        }
        let host = host.trim();
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => name,
            _ => host,
        };
        let address = host
            .parse::<SocketAddr>()
            .map(|address| address.ip())
            .or_else(|_| {
                let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
                bare.unwrap_or(name).parse::<IpAddr>()
            });
        if let Ok(address) = address {
            return self.literal || address.is_loopback();
        }
        let names = self.names.iter().map(String::as_str);
        names
            .chain(["localhost"])
            .any(|own| own.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_host_are_answered() {
        let own = Access::default();
        for host in [
            "localhost:9100",
            "127.0.0.1",
            "[::1]:80",
            "LOCALHOST",
            "127.0.0.2:1",
        ] {
            assert!(own.answers(host), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "192.0.2.1",
            "",
            "localhost.evil.example:80",
            "evil.example:localhost",
        ] {
            assert!(!own.answers(host), "{host}");
        }
        let proxied = Access {
            names: vec!["paths.example".to_owned()],
            ..Access::default()
        };
        assert!(proxied.answers("paths.example:443") && !proxied.answers("evil.example"));
        let far = Access {
            literal: true,
            ..Access::default()
        };
        assert!(far.answers("192.0.2.1:80") && far.answers("[2001:db8::1]"));
        assert!(!far.answers("evil.example"));
    }
}
