//! Errors of a history.

mod url;

pub use url::{TlsError, UrlError};

use crate::sql::{Cause, SqlError};

/// Why something could not be done with a history.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A text that names no place.
    #[error(
        "{text:?} is no history location: {why}; give a file, or postgres://USER@HOST/DATABASE"
    )]
    Place {
        /// What was given.
        text: String,
        /// The reason.
        #[source]
        why: PlaceError,
    },
    /// The URL of a database is wrong.
    #[error("the URL {scheme}://... of a history is wrong: {why}")]
    Url {
        /// Its scheme; the rest may hold a password.
        scheme: String,
        /// What is wrong with it.
        #[source]
        why: UrlError,
    },
    /// It could not be opened.
    #[error("cannot open the history {place}: {why}")]
    Open {
        /// Which.
        place: String,
        /// Why.
        #[source]
        why: Cause,
    },
    /// A later version of the program made it.
    #[error(
        "the history {place} was made by a newer pathtwin (its schema is {found}, this program knows \
         up to {known}); nothing was changed: update pathtwin, or name another place with --store"
    )]
    Newer {
        /// Which.
        place: String,
        /// Its schema.
        found: i64,
        /// The newest schema this program knows.
        known: i64,
    },
    /// The disk, or the user's share of it, is full.
    #[error(
        "no room left to {what} in the history {place}; nothing of it was written, and what was saved \
         before is there: make room on the disk"
    )]
    Full {
        /// What was being done.
        what: &'static str,
        /// Where.
        place: String,
    },
    /// Others held it for too long.
    #[error("the history {place} was in use by others for too long to {what}: try again")]
    Busy {
        /// What was being done.
        what: &'static str,
        /// Where.
        place: String,
    },
    /// A document is larger than what is read.
    #[error(
        "{what} has {bytes} bytes or more, and documents of up to {largest} are read: if it is meant to be so large, allow \
         it with --max-document"
    )]
    TooLarge {
        /// Which, and where it is.
        what: String,
        /// Its size.
        bytes: u64,
        /// The limit.
        largest: u64,
    },
    /// The database refused.
    #[error("cannot {what} in the history {place}: {why}")]
    Database {
        /// What was being done.
        what: &'static str,
        /// Where.
        place: String,
        /// The database's message.
        #[source]
        why: Cause,
    },
    /// No document has this id.
    #[error("no document whose id begins with {0:?}: `pathtwin history list` shows what is there")]
    Missing(String),
    /// Several documents have ids that begin so.
    #[error("ID prefix {prefix:?} is ambiguous ({count} documents): give more characters")]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// How many there are.
        count: usize,
    },
    /// A document is damaged.
    #[error("the document {id} cannot be read: {why}")]
    Damaged {
        /// Its id.
        id: String,
        /// What is wrong.
        #[source]
        why: Cause,
    },
    /// What should be kept is no document.
    #[error("{what}: {why}")]
    Format {
        /// Where it came from.
        what: String,
        /// What is wrong.
        #[source]
        why: Cause,
    },
}

/// Reason why a text names no place of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// Nothing was given.
    #[error("it is empty")]
    Empty,
    /// A connection string of libpq.
    #[error("a database is named by a URL")]
    ConnectionString,
    /// A URL with another scheme.
    #[error("this kind of URL is not known")]
    Scheme,
}

impl StoreError {
    pub(crate) fn sql(what: &'static str, place: &str, error: SqlError) -> Self {
        let place = place.to_owned();
        match error {
            SqlError::Full => Self::Full { what, place },
            SqlError::Busy | SqlError::Again => Self::Busy { what, place },
            SqlError::Other(why) => Self::Database { what, place, why },
        }
    }
}
