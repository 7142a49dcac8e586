//! Errors of a history.

mod text;
mod url;

pub use url::{TlsError, UrlError};

use model::{safe, text::Text};

use crate::sql::{Cause, SqlError};

/// Error of an operation on a history.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A text that names no place.
    #[error(
        "{text:?} is no history location: {why}; give a file, or postgres://USER@HOST/DATABASE"
    )]
    Place {
        /// The text given.
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
        /// The error in it.
        #[source]
        why: UrlError,
    },
    /// It could not be opened.
    #[error("cannot open the history {place}: {why}")]
    Open {
        /// The history.
        place: String,
        /// The error.
        #[source]
        why: Cause,
    },
    /// A later version of the program made it.
    #[error(
        "the history {place} was made by a newer pathtwin (its schema is {found}, this program knows \
         up to {known}); nothing was changed: update pathtwin, or name another place with --store"
    )]
    Newer {
        /// The history.
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
        /// The operation.
        what: Work,
        /// The history.
        place: String,
    },
    /// Others held it for too long.
    #[error("the history {place} was in use by others for too long to {what}: try again")]
    Busy {
        /// The operation.
        what: Work,
        /// The history.
        place: String,
    },
    /// A document is larger than the limit.
    #[error(
        "{what} has {bytes} bytes or more, and documents of up to {largest} are read: if it is meant to be so large, allow \
         it with --max-document"
    )]
    TooLarge {
        /// The object and its location.
        what: Text,
        /// Its size.
        bytes: u64,
        /// The limit.
        largest: u64,
    },
    /// The database refused.
    #[error("cannot {what} in the history {place}: {why}")]
    Database {
        /// The operation.
        what: Work,
        /// The history.
        place: String,
        /// The database's message.
        #[source]
        why: Cause,
    },
    /// No document has this id.
    #[error("no document whose id begins with {0:?}: `pathtwin history list` shows the documents")]
    Missing(String),
    /// Several documents have ids that begin so.
    #[error("ID prefix {prefix:?} is ambiguous ({count} documents): give more characters")]
    Ambiguous {
        /// The prefix given.
        prefix: String,
        /// Number of matches.
        count: usize,
    },
    /// A document is damaged.
    #[error("the document {} cannot be read: {why}", safe::line(id))]
    Damaged {
        /// Its id.
        id: String,
        /// The error.
        #[source]
        why: Cause,
    },
    /// A document to store could not be parsed.
    #[error("{what}: {why}")]
    Format {
        /// Its origin.
        what: Text,
        /// The error.
        #[source]
        why: Cause,
    },
}

/// Operation on a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum Work {
    Begin,
    Prune,
    GiveBackRoom,
    Save,
    Find,
    Read,
    Delete,
    Label,
    Query,
    ReadSchema,
    SetUpTables,
}

/// Reason why a document cannot be stored, found by this program itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Another document has its id.
    #[error("another document with this id is in the history; that one was kept")]
    Twice,
    /// Its id has other characters, or too many.
    #[error("an id has 1 to 64 letters, digits, - and _")]
    Id,
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
    pub(crate) fn sql(what: Work, place: &str, error: SqlError) -> Self {
        let place = place.to_owned();
        match error {
            SqlError::Full => Self::Full { what, place },
            SqlError::Busy | SqlError::Again => Self::Busy { what, place },
            SqlError::Other(why) => Self::Database { what, place, why },
        }
    }
}
