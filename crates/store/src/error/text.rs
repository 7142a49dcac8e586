//! Texts of errors of a history, for pages in any language.

use std::{fmt, io};

use model::{
    run::RunError,
    safe, text,
    text::{Text, Value},
};

use super::{DocumentError, PlaceError, StoreError, Work};
use crate::sql::Cause;

impl StoreError {
    /// The error with its values, for reports in any language. Messages of a database, a parser or
    /// the system's certificates are quoted.
    pub fn text(&self) -> Text {
        match self {
            Self::Place { text, why } => text!(
                "{text} is no history location: {why}; give a file, or \
                 postgres://USER@HOST/DATABASE",
                text = text,
                why = why.text()
            ),
            Self::Url { scheme, why } => text!(
                "the URL {url} of a history is wrong: {why}",
                url = format!("{scheme}://..."),
                why = why.text()
            ),
            Self::Open { place, why } => text!(
                "cannot open the history {place}: {why}",
                place = place,
                why = cause(why)
            ),
            Self::Newer {
                place,
                found,
                known,
            } => text!(
                "the history {place} was made by a newer pathtwin (its schema is {found}, this \
                 program knows up to {known}); nothing was changed: update pathtwin, or name \
                 another place with --store",
                place = place,
                found = Value::Count(*found as f64),
                known = Value::Count(*known as f64)
            ),
            Self::Full { what, place } => text!(
                "no room left to {work} in the history {place}; nothing of it was written, and \
                 what was saved before is there: make room on the disk",
                work = what.text(),
                place = place
            ),
            Self::Busy { what, place } => text!(
                "the history {place} was in use by others for too long to {work}: try again",
                work = what.text(),
                place = place
            ),
            Self::Database { what, place, why } => text!(
                "cannot {work} in the history {place}: {why}",
                work = what.text(),
                place = place,
                why = cause(why)
            ),
            Self::TooLarge {
                what,
                bytes,
                largest,
            } => text!(
                "{document} has {bytes} bytes or more, and documents of up to {largest} are \
                 read: if it is meant to be so large, allow it with --max-document",
                document = what.clone(),
                bytes = *bytes,
                largest = *largest
            ),
            Self::Missing(prefix) => text!(
                "no document whose id begins with {prefix}: `pathtwin history list` shows the \
                 documents",
                prefix = prefix
            ),
            Self::Ambiguous { prefix, count } => text!(
                "ID prefix {prefix} is ambiguous ({count} documents): give more characters",
                prefix = prefix,
                count = *count
            ),
            Self::Damaged { id, why } => text!(
                "the document {id} cannot be read: {why}",
                id = safe::line(id).into_owned(),
                why = cause(why)
            ),
            Self::Format { what, why } => text!(
                "{document}: {why}",
                document = what.clone(),
                why = cause(why)
            ),
        }
    }
}

/// A cause as a text if it has one, otherwise its message.
fn cause(why: &Cause) -> Value {
    if let Some(error) = why.downcast_ref::<io::Error>() {
        return Value::from(error);
    }
    if let Some(text) = why.downcast_ref::<Text>() {
        return Value::Text(text.clone());
    }
    if let Some(error) = why.downcast_ref::<RunError>() {
        return Value::Text(error.text());
    }
    match why.downcast_ref::<DocumentError>() {
        Some(error) => Value::Text(error.text()),
        None => Value::Name(why.to_string()),
    }
}

impl DocumentError {
    /// The error, for reports in any language.
    pub fn text(self) -> Text {
        match self {
            Self::Twice => {
                text!("another document with this id is in the history; that one was kept")
            }
            Self::Id => text!("an id has 1 to 64 letters, digits, - and _"),
        }
    }
}

impl PlaceError {
    /// The error, for reports in any language.
    pub fn text(self) -> Text {
        match self {
            Self::Empty => text!("it is empty"),
            Self::ConnectionString => text!("a database is named by a URL"),
            Self::Scheme => text!("this kind of URL is not known"),
        }
    }
}

impl Work {
    fn text(self) -> Text {
        match self {
            Self::Begin => text!("begin"),
            Self::Prune => text!("prune"),
            Self::GiveBackRoom => text!("give back room"),
            Self::Save => text!("save a document"),
            Self::Find => text!("look for a document"),
            Self::Read => text!("read a document"),
            Self::Delete => text!("delete a document"),
            Self::Label => text!("label a document"),
            Self::Query => text!("read"),
            Self::ReadSchema => text!("read the schema"),
            Self::SetUpTables => text!("set up the tables"),
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use model::text::Catalogue;

    use super::*;

    /// A page flattened the system's message to an English sentence in another language.
    #[test]
    fn the_cause_of_an_error_is_a_text_of_its_own() {
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = StoreError::Open {
            place: "/h.db".to_owned(),
            why: refused.into(),
        };
        let words = [
            ("cannot open the history {place}: {why}", "{place} - {why}"),
            ("permission denied", "nein"),
        ];
        let words = words.map(|(english, own)| (english.to_owned(), own.to_owned()));
        let rendered = error.text().render(&Catalogue::new(words.into(), true));
        assert_eq!(rendered.as_deref(), Some("/h.db - nein"));
        assert_eq!(
            error.text().to_string(),
            "cannot open the history /h.db: permission denied"
        );
    }
}
