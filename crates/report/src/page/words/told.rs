//! Texts of documents in the language of the page.

use std::borrow::Cow;

use model::{
    findings::{CannotTell, Value},
    text::{Text, capital},
};

use super::{Lang, Words};

/// A text of a document, as the page says it.
pub(in crate::page) struct Told {
    pub(in crate::page) text: String,
    /// Its language, if that is not the page's: what no catalogue has (a text of a program of
    /// another version) stays English.
    pub(in crate::page) lang: Option<&'static str>,
    english: bool,
}

impl Told {
    /// In English, on a page of some language.
    fn english(text: String, page: Lang) -> Self {
        Self {
            text,
            lang: (page != Lang::English).then_some("en"),
            english: true,
        }
    }

    /// With a capital letter in front, where the language has them.
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
    /// A text of a document.
    pub(in crate::page) fn told(&self, text: &Text) -> Told {
        match self.catalogue.as_ref().and_then(|c| text.render(c)) {
            Some(text) => Told {
                text,
                lang: None,
                english: false,
            },
            None => Told::english(text.to_string(), self.lang),
        }
    }

    /// What cannot be told, and what would tell, in one language.
    pub(in crate::page) fn would_tell(&self, item: &CannotTell) -> Told {
        let because = self.told(&item.because);
        let settle = self.told(&item.settle);
        let own = !because.english && !settle.english;
        if !own && self.lang != Lang::English {
            return Told::english(
                format!("{}; {} would tell", item.because, item.settle),
                self.lang,
            );
        }
        let values = [
            ("because", because.text.as_str().into()),
            ("settle", settle.text.as_str().into()),
        ];
        let text = self.fill("would-tell", &values);
        Told { text, ..because }
    }

    /// A value of the evidence.
    pub(in crate::page) fn value(&self, value: &Value) -> String {
        let Some(catalogue) = &self.catalogue else {
            return value.to_string();
        };
        match value {
            // Documents of schema 1 do not tell words from names.
            Value::Name(name) => catalogue.get(name).unwrap_or(name).to_owned(),
            value => value.render(catalogue),
        }
    }
}

#[cfg(test)]
mod tests;
