//! Location of a history.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::{StoreError, error::PlaceError, postgres::Address};

/// Keys of connection strings of libpq (PostgreSQL 17, 32.1.2), which are not URLs. Any of them may
/// be first.
const KEYWORDS: [&str; 43] = [
    "application_name",
    "channel_binding",
    "client_encoding",
    "connect_timeout",
    "dbname",
    "fallback_application_name",
    "gssdelegation",
    "gssencmode",
    "gsslib",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "krbsrvname",
    "load_balance_hosts",
    "options",
    "passfile",
    "password",
    "port",
    "replication",
    "require_auth",
    "requirepeer",
    "requiressl",
    "service",
    "servicefile",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "sslcert",
    "sslcertmode",
    "sslcompression",
    "sslcrl",
    "sslcrldir",
    "sslkey",
    "sslmode",
    "sslnegotiation",
    "sslpassword",
    "sslrootcert",
    "sslsni",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// Location of a history.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// A file of SQLite.
    File(PathBuf),
    /// A database of PostgreSQL.
    Server(Address),
}

impl Place {
    /// Parses the user's text: a URL that begins with `postgres://` or `postgresql://`, else a
    /// file. No error repeats text that could contain a password.
    ///
    /// # Errors
    ///
    /// It is empty, a URL of another kind, or an invalid database URL.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let wrong = |text: &str, why| StoreError::Place {
            text: text.to_owned(),
            why,
        };
        if text.is_empty() {
            return Err(wrong(text, PlaceError::Empty));
        }
        if is_connection_string(text) {
            return Err(wrong("KEY=VALUE ...", PlaceError::ConnectionString));
        }
        match text.split_once(':') {
            Some((scheme @ ("postgres" | "postgresql"), _)) => Address::parse(text)
                .map(Self::Server)
                .map_err(|why| StoreError::Url {
                    scheme: scheme.to_owned(),
                    why,
                }),
            Some(("sqlite" | "file", rest)) if rest.starts_with("//") => {
                Ok(Self::File(rest[2..].into()))
            }
            Some((scheme, rest)) if rest.starts_with("//") => {
                Err(wrong(&format!("{scheme}://..."), PlaceError::Scheme))
            }
            _ => Ok(Self::File(text.into())),
        }
    }

    /// The user's own history, by the XDG base directories: `$XDG_DATA_HOME/pathtwin/history.db`,
    /// where the variable defaults to `~/.local/share`. `None` if neither is known.
    pub fn of_user(xdg_data_home: Option<OsString>, home: Option<OsString>) -> Option<Self> {
        let folder = sys::folders::of_user(xdg_data_home, home, ".local/share")?;
        Some(Self::File(folder.join("pathtwin/history.db")))
    }

    /// Makes a file, SQLite's additional files and its folder readable for their owner only:
    /// earlier versions left them readable for other users. Missing files, and files on a file
    /// system without modes, are ignored.
    pub fn make_private(&self) {
        let Some(file) = self.file() else { return };
        let beside = ["-wal", "-shm"].map(|end| beside(file, end));
        let beside = beside.iter().map(PathBuf::as_path);
        for path in file.parent().into_iter().chain([file]).chain(beside) {
            let _ = sys::files::make_private(path);
        }
    }

    /// When a file was last written, by anyone; `None` for a server, or if it does not exist.
    pub fn written(&self) -> Option<SystemTime> {
        let file = self.file()?;
        let of = |file: &Path| file.metadata().and_then(|of| of.modified()).ok();
        of(file).max(of(&beside(file, "-wal")))
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Server(_) => None,
        }
    }
}

/// A file that SQLite has beside that of a database.
fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Returns true if a text is `KEY=VALUE ...` of libpq, where spaces may surround the `=`. A
/// password anywhere in a text makes it one, too: rejecting a file with an unusual name is better
/// than creating a file with a password in its name.
fn is_connection_string(text: &str) -> bool {
    let mut keys = text
        .match_indices('=')
        .filter_map(|(at, _)| text[..at].split_whitespace().next_back());
    let first = text.split(['=', ' ', '\t', '\n']).find(|w| !w.is_empty());
    let first = text.contains('=').then_some(first).flatten();
    first.is_some_and(|key| KEYWORDS.contains(&key.to_ascii_lowercase().as_str()))
        || keys.any(|key| {
            ["password", "passfile", "sslpassword"].contains(&key.to_ascii_lowercase().as_str())
        })
}

/// Without the password of a URL.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Server(address) => address.fmt(f),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_files_or_servers() {
        let file = |path: &str| Place::File(path.into());
        assert_eq!(Place::parse("runs.db").unwrap(), file("runs.db"));
        assert_eq!(
            Place::parse("sqlite:///x/runs.db").unwrap(),
            file("/x/runs.db")
        );
        assert!(matches!(
            Place::parse("postgres://h/d"),
            Ok(Place::Server(_))
        ));
        assert_eq!(Place::parse("runs=old.db").unwrap(), file("runs=old.db"));
        assert!(Place::parse("mysql://h/d").is_err());
        assert!(Place::parse("").is_err());
    }

    #[test]
    fn the_users_history_follows_xdg() {
        let of = |data: Option<&str>, home: Option<&str>| {
            Place::of_user(data.map(Into::into), home.map(Into::into)).map(|p| p.to_string())
        };
        assert_eq!(
            of(Some("/d"), Some("/h")).unwrap(),
            "/d/pathtwin/history.db"
        );
        // A relative path is to be ignored (XDG Base Directory Specification 0.8).
        let home = "/h/.local/share/pathtwin/history.db";
        assert_eq!(of(Some("d"), Some("/h")).unwrap(), home);
        assert_eq!(of(None, Some("/h")).unwrap(), home);
        assert_eq!(of(None, None), None);
    }

    #[test]
    fn a_connection_string_is_no_file_and_its_password_is_not_repeated() {
        for text in [
            "sslrootcert=x password=s3cret",
            "sslrootcert = x password = s3cret",
            " target_session_attrs=any password=s3cret",
            "SSLRootCert=/x/y.pem\tpassword=s3cret",
            "some_day=known password='s3cret'",
            "password=s3cret",
            "sslpassword=s3cret sslkey=k",
        ] {
            let error = Place::parse(text).unwrap_err().to_string();
            assert!(error.contains("postgres://"), "{text}: {error}");
            assert!(!error.contains("s3cret"), "{text}: {error}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            (
                "postgres://ann:s3%40cret@db/runs?sslmode=disable",
                "postgres://ann@db/runs",
            ),
            ("postgres://ann:s3/cret@db/runs", "postgres://ann@db/runs"),
            ("postgres://db/runs?password=x", "postgres://db/runs"),
            ("postgresql://ann@db", "postgresql://ann@db"),
        ] {
            assert_eq!(Place::parse(url).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn passwords_are_not_in_errors() {
        for wrong in [
            "postgres://ann:secret@db:port/runs",
            "postgres://ann:se@secret@db/runs",
            "postgres://ann:se?secret@db/runs",
            "postgres://ann:secret@db/runs?sslmode=allow",
            "postgres://db/runs?password=p&secret=x",
            "postgres://db/runs?password=p&secret",
            "postgres:/ann:secret@db/runs",
            "mysql://ann:secret@db/runs",
            "Postgres://ann:secret@db/runs",
            "host=db user=ann password=secret",
            "password=secret host=db",
        ] {
            let error = Place::parse(wrong).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("secret"), "{wrong}: {shown}");
        }
    }
}
