//! Where a history is.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

use crate::StoreError;

/// Where a history is.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// A file of SQLite.
    File(PathBuf),
    /// A database of PostgreSQL, by its URL.
    Server(String),
}

impl Place {
    /// From what a user gives: a URL that begins with `postgres://` or `postgresql://`, else a file.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let wrong = |why: &str| StoreError::Place {
            text: text.to_owned(),
            why: why.to_owned(),
        };
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Server(text.to_owned()));
        }
        if text.is_empty() {
            return Err(wrong("it is empty"));
        }
        match text.split_once("://") {
            Some(("sqlite" | "file", path)) => Ok(Self::File(path.into())),
            Some(_) => Err(wrong("this kind of URL is not known")),
            None => Ok(Self::File(text.into())),
        }
    }

    /// The user's own history, by the XDG base directories: `$XDG_DATA_HOME/pathtwin/history.db`,
    /// where the variable defaults to `~/.local/share`. `None` if neither is known.
    pub fn of_user(xdg_data_home: Option<OsString>, home: Option<OsString>) -> Option<Self> {
        let absolute = |path: PathBuf| path.is_absolute().then_some(path);
        let folder = xdg_data_home
            .map(PathBuf::from)
            .and_then(absolute)
            .or_else(|| Some(absolute(home?.into())?.join(".local/share")))?;
        Some(Self::File(folder.join("pathtwin/history.db")))
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Server(_) => None,
        }
    }
}

/// Without the password of a URL.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Server(url) => f.write_str(&without_password(url)),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
    let rest = rest.split_once('?').map_or(rest, |(before, _)| before);
    // A password may hold an @ or a slash: what is left of the last @ is the user's.
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{scheme}://{user}@{host}")
        }
        None => format!("{scheme}://{rest}"),
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
    fn passwords_are_not_shown() {
        for (url, shown) in [
            (
                "postgres://ann:s3@cret@db/runs?sslmode=disable",
                "postgres://ann@db/runs",
            ),
            ("postgres://db/runs?password=x", "postgres://db/runs"),
            ("postgresql://ann@db", "postgresql://ann@db"),
        ] {
            assert_eq!(Place::parse(url).unwrap().to_string(), shown);
        }
    }
}
