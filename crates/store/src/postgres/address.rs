//! URLs of PostgreSQL databases: the parts for the client library, and the TLS parameters that it
//! does not support.

use std::{borrow::Cow, fmt};

use percent_encoding::percent_decode_str;
use postgres::{
    Config,
    config::{Host, SslMode},
};

use super::tls::{Mode, PARAMETERS, Tls};
use crate::error::UrlError;

/// A server and a database on it, with all settings of the connection in the URL.
///
/// It may contain a password: only user, host and database are displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// The URL without the TLS parameters.
    url: String,
    tls: Tls,
    shown: String,
}

impl Address {
    /// Parses a URL that begins with `postgres://` or `postgresql://`. The error contains no
    /// possible part of a password.
    pub(crate) fn parse(url: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = url.split_once("://").ok_or(UrlError::NotAUrl)?;
        let (base, query) = rest.split_once('?').unwrap_or((rest, ""));
        // The parts are ambiguous, and a part of a password could be mistaken for the host.
        if query.contains('@') || base.matches('@').count() > 1 {
            return Err(UrlError::Unescaped);
        }
        let (ours, theirs) = parameters(query)?;
        let address = Self {
            url: format!("{scheme}://{base}?{}", theirs.join("&")),
            tls: Tls::of_parameters(ours.iter().map(|(key, value)| (*key, value.as_ref())))?,
            shown: format!("{scheme}://{}", without_password(base)),
        };
        if let Err(error) = address.url.parse::<Config>() {
            // It may name a parameter, and that may be the rest of a password with an & in it.
            return Err(if theirs.iter().any(|pair| pair.starts_with("password")) {
                UrlError::Parameter
            } else {
                UrlError::Refused(super::message(&error))
            });
        }
        Ok(address)
    }

    pub(crate) fn tls(&self) -> &Tls {
        &self.tls
    }

    /// Returns the client library's config for the connection.
    pub(crate) fn config(&self) -> Result<Config, postgres::Error> {
        let mut config: Config = self.url.parse()?;
        let sockets = config
            .get_hosts()
            .iter()
            .all(|h| matches!(h, Host::Unix(_)));
        let mode = match self.tls.mode {
            _ if sockets && config.get_hostaddrs().is_empty() => SslMode::Disable,
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        };
        config.ssl_mode(mode);
        if config.get_hosts().is_empty() {
            // The name in the certificate is then the address.
            for address in config.get_hostaddrs().to_vec() {
                config.host(&address.to_string());
            }
        }
        Ok(config)
    }
}

/// Without the password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

type Parameters<'a> = (Vec<(&'static str, Cow<'a, str>)>, Vec<&'a str>);

/// The TLS parameters, decoded, and those of the client library, unchanged.
fn parameters(query: &str) -> Result<Parameters<'_>, UrlError> {
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or(UrlError::NoValue)?;
        let key = decode(key)?;
        match PARAMETERS.into_iter().find(|ours| *ours == key) {
            Some(key) => ours.push((key, decode(value)?)),
            None => theirs.push(pair),
        }
    }
    Ok((ours, theirs))
}

fn decode(text: &str) -> Result<Cow<'_, str>, UrlError> {
    percent_decode_str(text)
        .decode_utf8()
        .map_err(|_| UrlError::NotUtf8)
}

/// `base` is the text between `://` and `?`.
fn without_password(base: &str) -> String {
    match base.split_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{user}@{host}")
        }
        None => base.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;

    use super::*;
    use crate::postgres::tls::Roots;

    fn mode(url: &str) -> SslMode {
        let config = Address::parse(url).unwrap().config().unwrap();
        config.get_ssl_mode()
    }

    #[test]
    fn a_socket_has_no_tls() {
        let full = "sslmode=verify-full&sslrootcert=system";
        assert_eq!(
            mode(&format!("postgres:///d?host=/run/x&{full}")),
            SslMode::Disable
        );
        assert_eq!(
            mode(&format!("postgres://%2Frun%2Fx/d?{full}")),
            SslMode::Disable
        );
        assert_eq!(mode(&format!("postgres://db/d?{full}")), SslMode::Require);
        assert_eq!(mode("postgres://db/d"), SslMode::Prefer);
        assert_eq!(
            mode("postgres:///d?hostaddr=192.0.2.1&host=/run/x"),
            SslMode::Prefer
        );
    }

    #[test]
    fn an_address_alone_is_the_name_to_check() {
        let address = Address::parse("postgres:///d?hostaddr=192.0.2.1,192.0.2.2").unwrap();
        let hosts = ["192.0.2.1", "192.0.2.2"].map(|h| Host::Tcp(h.to_owned()));
        assert_eq!(address.config().unwrap().get_hosts(), hosts);
    }

    /// Characters that a URL may contain without percent-encoding, and more.
    fn raw() -> impl Strategy<Value = String> {
        "[a-z0-9:/?#@&=%+,;\\[\\] é'-]{0,8}"
    }

    fn encoded(text: &str) -> String {
        utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
    }

    proptest! {
        /// No message contains the password, in whatever form it is written.
        #[test]
        fn passwords_are_never_shown(before in raw(), after in raw(), database in raw()) {
            let password = format!("{before}S3CRET{after}");
            for url in [
                format!("postgres://ann:{password}@db/{database}"),
                format!("postgres://ann:{password}@db/{database}?sslmode=require"),
                format!("postgres://db/runs?user=ann&password={password}&sslmode=wrong"),
                format!("postgres://ann:{}@db/runs?x=y", encoded(&password)),
            ] {
                let shown = match crate::Place::parse(&url) {
                    Ok(place) => format!("{place} {place:?}"),
                    Err(error) => format!("{error} {error:?}"),
                };
                prop_assert!(!shown.contains("S3CRET"), "{url}: {shown}");
            }
        }

        /// Our parameters are removed at any position; the others reach the library.
        #[test]
        fn parameters_are_distinguished(
            user in "\\PC{1,8}",
            password in "\\PC{1,8}",
            root in "/\\PC{1,12}",
            certificate in "/\\PC{1,12}",
            key in "/\\PC{1,12}",
            full in any::<bool>(),
            order in Just(vec![0, 1, 2, 3, 4, 5]).prop_shuffle(),
        ) {
            let mode = if full { "verify-full" } else { "verify-ca" };
            let pairs = [
                format!("sslmode={mode}"),
                format!("sslrootcert={}", encoded(&root)),
                format!("sslcert={}", encoded(&certificate)),
                format!("ssl%6bey={}", encoded(&key)),
                "application_name=x".to_owned(),
                format!("options={}", encoded(&root)),
            ];
            let query: Vec<&str> = order.iter().map(|at| pairs[*at].as_str()).collect();
            let credentials = format!("{}:{}", encoded(&user), encoded(&password));
            let url = format!("postgres://{credentials}@db:5433/runs?{}", query.join("&"));
            let address = Address::parse(&url).unwrap();
            let config = address.config().unwrap();
            prop_assert_eq!(config.get_user(), Some(user.as_str()));
            prop_assert_eq!(config.get_password(), Some(password.as_bytes()));
            prop_assert_eq!(config.get_dbname(), Some("runs"));
            prop_assert_eq!(config.get_ports(), &[5433]);
            prop_assert_eq!(config.get_application_name(), Some("x"));
            prop_assert_eq!(config.get_options(), Some(root.as_str()));
            let tls = address.tls();
            prop_assert_eq!(tls.mode, if full { Mode::VerifyFull } else { Mode::VerifyCa });
            prop_assert_eq!(&tls.roots, &Some(Roots::File(PathBuf::from(&root))));
            let files = Some((PathBuf::from(&certificate), PathBuf::from(&key)));
            prop_assert_eq!(&tls.identity, &files);
        }
    }
}
