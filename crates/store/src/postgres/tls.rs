//! TLS parameters of a connection, as in libpq (PostgreSQL 17, section 32.19), which the client
//! library does not support.

use std::path::PathBuf;

use crate::error::TlsError;

/// The parameters that are read here.
pub(crate) const PARAMETERS: [&str; 4] = ["sslmode", "sslrootcert", "sslcert", "sslkey"];

/// Encryption, and the checks of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// No TLS.
    Disable,
    /// TLS if the server supports it.
    Prefer,
    /// TLS, with any server.
    Require,
    /// TLS with a server whose certificate is signed by a root.
    VerifyCa,
    /// And for the requested name.
    VerifyFull,
}

/// Trusted issuers of a server's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Roots {
    /// The certificates in a file, PEM.
    File(PathBuf),
    /// The roots trusted by this system.
    System,
}

/// Checks of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Nothing.
    Nothing,
    /// Its chain leads to a trusted root.
    Chain,
    /// And that it is for the host.
    ChainAndName,
}

/// The settings of TLS in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tls {
    pub(crate) mode: Mode,
    pub(crate) roots: Option<Roots>,
    /// The files of the client's certificate with its intermediates, and of its key; PEM.
    pub(crate) identity: Option<(PathBuf, PathBuf)>,
}

impl Tls {
    /// Parses names and values of [`PARAMETERS`]. As in libpq, the last value of a name is used,
    /// and an empty value counts as absent.
    pub(crate) fn of_parameters<'a>(
        given: impl Iterator<Item = (&'static str, &'a str)> + Clone,
    ) -> Result<Self, TlsError> {
        let value = |name: &str| {
            let values = given.clone().filter(|(key, _)| *key == name);
            values
                .last()
                .map(|(_, value)| value)
                .filter(|v| !v.is_empty())
        };
        let roots = value("sslrootcert").map(|value| match value {
            "system" => Roots::System,
            file => Roots::File(file.into()),
        });
        let mode = match value("sslmode") {
            Some(name) => mode(name)?,
            // Anyone can get a certificate of a public root: without a check of the name it proves
            // nothing.
            None if roots == Some(Roots::System) => Mode::VerifyFull,
            None => Mode::Prefer,
        };
        if roots == Some(Roots::System) && !matches!(mode, Mode::VerifyFull | Mode::Disable) {
            return Err(TlsError::NameUnchecked);
        }
        if roots.is_none() && matches!(mode, Mode::VerifyCa | Mode::VerifyFull) {
            return Err(TlsError::NoRoots);
        }
        let identity = match (value("sslcert"), value("sslkey")) {
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            (None, None) => None,
            _ => return Err(TlsError::HalfIdentity),
        };
        Ok(Self {
            mode,
            roots,
            identity,
        })
    }

    /// Returns the checks of a server's certificate. A file of roots is not given to be ignored;
    /// libpq states it of `require`, and `prefer` should not be weaker.
    pub(crate) fn check(&self) -> Check {
        match self.mode {
            Mode::VerifyFull => Check::ChainAndName,
            Mode::VerifyCa => Check::Chain,
            _ if self.roots.is_some() => Check::Chain,
            _ => Check::Nothing,
        }
    }
}

fn mode(name: &str) -> Result<Mode, TlsError> {
    match name {
        "disable" => Ok(Mode::Disable),
        "prefer" => Ok(Mode::Prefer),
        "require" => Ok(Mode::Require),
        "verify-ca" => Ok(Mode::VerifyCa),
        "verify-full" => Ok(Mode::VerifyFull),
        _ => Err(TlsError::Mode(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tls(given: &[(&'static str, &str)]) -> Result<Tls, TlsError> {
        Tls::of_parameters(given.iter().copied())
    }

    /// PostgreSQL 17, tables 32.1 and section 32.1.2 on sslrootcert.
    #[test]
    fn modes_check_the_same_as_libpq() {
        let file = ("sslrootcert", "/r.pem");
        let system = ("sslrootcert", "system");
        for (given, mode, check) in [
            (&[][..], Mode::Prefer, Check::Nothing),
            (&[("sslmode", "")], Mode::Prefer, Check::Nothing),
            (&[("sslmode", "require")], Mode::Require, Check::Nothing),
            (&[("sslmode", "require"), file], Mode::Require, Check::Chain),
            (
                &[("sslmode", "verify-ca"), file],
                Mode::VerifyCa,
                Check::Chain,
            ),
            (
                &[("sslmode", "verify-full"), file],
                Mode::VerifyFull,
                Check::ChainAndName,
            ),
            (&[system], Mode::VerifyFull, Check::ChainAndName),
            (&[("sslmode", "disable"), file], Mode::Disable, Check::Chain),
            (
                &[("sslmode", "require"), ("sslmode", "disable")],
                Mode::Disable,
                Check::Nothing,
            ),
        ] {
            let tls = tls(given).unwrap();
            assert_eq!((tls.mode, tls.check()), (mode, check), "{given:?}");
        }
    }

    #[test]
    fn modes_that_check_nothing_are_refused() {
        for (given, reason) in [
            (&[("sslmode", "verify-full")][..], "sslrootcert=system"),
            (&[("sslmode", "verify-ca")], "sslrootcert=FILE"),
            (
                &[("sslmode", "require"), ("sslrootcert", "system")],
                "verify-full",
            ),
            (
                &[("sslmode", "verify-ca"), ("sslrootcert", "system")],
                "verify-full",
            ),
            (&[("sslmode", "allow")], "prefer"),
            (&[("sslcert", "/c.pem")], "sslkey"),
            (&[("sslkey", "/k.pem")], "sslcert"),
        ] {
            let why = tls(given).unwrap_err().to_string();
            assert!(why.contains(reason), "{given:?}: {why}");
        }
    }

    proptest! {
        /// For any input, `verify-*` never results without roots, nor system roots without the
        /// name.
        #[test]
        fn a_check_has_roots(
            given in prop::collection::vec(
                (
                    prop::sample::select(&PARAMETERS[..]),
                    prop::sample::select(vec![
                        "", "system", "/f", "disable", "prefer", "require", "verify-ca", "verify-full",
                    ]),
                ),
                0..6,
            ),
        ) {
            if let Ok(tls) = Tls::of_parameters(given.iter().copied()) {
                prop_assert!(tls.check() == Check::Nothing || tls.roots.is_some());
                if tls.roots == Some(Roots::System) && tls.mode != Mode::Disable {
                    prop_assert_eq!(tls.check(), Check::ChainAndName);
                }
            }
        }
    }
}
