//! Errors reported by a server or its connection.

use std::error::Error as _;

/// The server's message, or that of the connection.
pub(super) fn message(error: &postgres::Error) -> String {
    if let Some(reported) = error.as_db_error() {
        return reported.message().to_owned();
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
