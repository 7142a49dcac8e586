//! Rendered texts of documents.

use std::borrow::Cow;

use model::text::capital;

use super::lang::Lang;

/// A rendered text of a document.
pub(in crate::page) struct Rendered {
    pub(in crate::page) text: String,
    /// Its language, if different from the page's: texts missing in the catalogue (from another
    /// version of the program) stay English.
    pub(in crate::page) lang: Option<&'static str>,
    pub(super) english: bool,
}

impl Rendered {
    /// An English text on a page of this language.
    pub(super) fn english(text: String, page: Lang) -> Self {
        Self {
            text,
            lang: (page != Lang::English).then_some("en"),
            english: true,
        }
    }

    /// The text with its first letter capitalised, if the language has capitals.
    pub(in crate::page) fn capital(&self) -> Cow<'_, str> {
        match self.english {
            true => Cow::Owned(capital(&self.text)),
            false => Cow::Borrowed(&self.text),
        }
    }

    /// The full stop of its language.
    pub(in crate::page) fn stop(&self) -> &'static str {
        if self.english { "." } else { "。" }
    }
}

#[cfg(test)]
mod tests;
