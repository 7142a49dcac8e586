//! Rendering of document texts in the language of the page.

use std::borrow::Cow;

use model::{
    findings::{CannotTell, Value},
    text::{Text, capital},
};

use super::{Lang, Words};

/// A rendered text of a document.
pub(in crate::page) struct Rendered {
    pub(in crate::page) text: String,
    /// Its language, if different from the page's: texts missing in the catalogue (from another
    /// version of the program) stay English.
    pub(in crate::page) lang: Option<&'static str>,
    english: bool,
}

impl Rendered {
    /// An English text on a page of this language.
    fn english(text: String, page: Lang) -> Self {
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

impl Words {
    /// Renders a text of a document.
    pub(in crate::page) fn render(&self, text: &Text) -> Rendered {
        match self.catalogue.as_ref().and_then(|c| text.render(c)) {
            Some(text) => Rendered {
                text,
                lang: None,
                english: false,
            },
            None => Rendered::english(text.to_string(), self.lang),
        }
    }

    /// Renders the reason and the deciding measurement of an undecided cause in one language.
    pub(in crate::page) fn undecided(&self, item: &CannotTell) -> Rendered {
        let because = self.render(&item.because);
        let settle = self.render(&item.settle);
        let own = !because.english && !settle.english;
        if !own && self.lang != Lang::English {
            return Rendered::english(
                format!("{}; to decide: {}", item.because, item.settle),
                self.lang,
            );
        }
        let values = [
            ("because", because.text.as_str().into()),
            ("settle", settle.text.as_str().into()),
        ];
        let text = self.fill("undecided", &values);
        Rendered { text, ..because }
    }

    /// Renders a value of the evidence.
    pub(in crate::page) fn value(&self, value: &Value) -> String {
        let Some(catalogue) = &self.catalogue else {
            return value.to_string();
        };
        match value {
            // Documents of schema 1 do not distinguish texts from names.
            Value::Name(name) => catalogue.get(name).unwrap_or(name).to_owned(),
            value => value.render(catalogue),
        }
    }
}

#[cfg(test)]
mod tests;
