//! Errors of a history.

mod text;
mod url;

pub use url::{TlsError, UrlError};

use model::text::Text;

use crate::sql::{Cause, SqlError};

/// Error of an operation on a history.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum StoreError {
    /// A text that names no place.
    Place {
        /// The text given.
        text: String,
        /// The reason.
        #[source]
        why: PlaceError,
    },
    /// The URL of a database is wrong.
    Url {
        /// Its scheme; the rest may hold a password.
        scheme: String,
        /// The error in it.
        #[source]
        why: UrlError,
    },
    /// It could not be opened.
    Open {
        /// The history.
        place: String,
        /// The error.
        #[source]
        why: Cause,
    },
    /// A later version of the program made it.
    Newer {
        /// The history.
        place: String,
        /// Its schema.
        found: i64,
        /// The newest schema this program knows.
        known: i64,
    },
    /// The disk, or the user's share of it, is full.
    Full {
        /// The operation.
        what: Work,
        /// The history.
        place: String,
    },
    /// It was locked by other processes for too long.
    Busy {
        /// The operation.
        what: Work,
        /// The history.
        place: String,
    },
    /// A document is larger than the limit.
    TooLarge {
        /// The object and its location.
        what: Text,
        /// Its size.
        bytes: u64,
        /// The limit.
        largest: u64,
    },
    /// The database refused.
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
    Missing(String),
    /// Several documents have ids that begin so.
    Ambiguous {
        /// The prefix given.
        prefix: String,
        /// Number of matches.
        count: usize,
    },
    /// A document is damaged.
    Damaged {
        /// Its id.
        id: String,
        /// The error.
        #[source]
        why: Cause,
    },
    /// A document to store could not be parsed.
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
#[error("{}", self.text())]
pub enum DocumentError {
    /// Another document has its id.
    Twice,
    /// Its id has other characters, or too many.
    Id,
}

/// Reason why a text names no place of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub enum PlaceError {
    /// Nothing was given.
    Empty,
    /// A connection string of libpq.
    ConnectionString,
    /// A URL with another scheme.
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
