//! Sentences of findings in the language of the page: a catalogue from English templates, as gettext
//! has them, because that is how findings say them (`model::message`).

use std::{borrow::Cow, collections::BTreeMap};

use model::{
    findings::{CannotTell, Exhibit, Value},
    message::Message,
};

use super::{Lang, Words};
use crate::page::verdict::capital;

const CHINESE: &str = include_str!("../../../locales/findings.zh-CN.toml");

/// Templates by their English ones.
pub(super) type Catalogue = BTreeMap<String, String>;

/// The catalogue of a language; empty for English, which needs none.
pub(super) fn catalogue(lang: Lang) -> Catalogue {
    match lang {
        Lang::English => Catalogue::new(),
        // That it can be read is what its test says.
        Lang::SimplifiedChinese => toml::from_str(CHINESE).unwrap_or_default(),
    }
}

/// What a finding says, as the page says it.
pub(in crate::page) struct Told<'a> {
    pub(in crate::page) text: Cow<'a, str>,
    /// Its language, if that is not the page's: findings speak English, and what no catalogue has (of a
    /// program of another version) stays so.
    pub(in crate::page) lang: Option<&'static str>,
    english: bool,
}

impl<'a> Told<'a> {
    /// As the finding says it, on a page of some language.
    fn english(text: Cow<'a, str>, page: Lang) -> Self {
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
    /// A text of a finding, which was made from `message` if it has values in it.
    pub(in crate::page) fn told<'a>(
        &self,
        text: &'a str,
        message: Option<&'a Message>,
    ) -> Told<'a> {
        match self.translated(text, message) {
            Some(text) => Told {
                text: Cow::Owned(text),
                lang: None,
                english: false,
            },
            None => Told::english(Cow::Borrowed(text), self.lang),
        }
    }

    fn translated(&self, text: &str, message: Option<&Message>) -> Option<String> {
        match message {
            Some(message) => message.filled(&|t| self.findings.get(t).map(String::as_str)),
            None => self.findings.get(text).cloned(),
        }
    }

    /// What cannot be told, and what would tell, in one language.
    pub(in crate::page) fn would_tell<'a>(&self, item: &'a CannotTell) -> Told<'a> {
        let because = self.told(&item.because, item.messages.get("because"));
        let settle = self.told(&item.settle, item.messages.get("settle"));
        let own = !because.english && !settle.english;
        if !own && self.lang != Lang::English {
            return Told::english(
                Cow::Owned(format!("{}; {} would tell", item.because, item.settle)),
                self.lang,
            );
        }
        let values = [
            ("because", because.text.as_ref().into()),
            ("settle", settle.text.as_ref().into()),
        ];
        let text = Cow::Owned(self.fill("would-tell", &values));
        Told { text, ..because }
    }

    /// A value of the evidence: units of words are the page's, all others are the same everywhere.
    pub(in crate::page) fn value(&self, exhibit: &Exhibit) -> String {
        let english = exhibit.value.to_string();
        let counted = |unit: &str, id: &str| {
            let n = english.strip_suffix(unit)?;
            Some(self.fill(id, &[("n", n.into())]))
        };
        let own = match &exhibit.value {
            Value::Bytes(_) => counted(" bytes", "value-bytes"),
            Value::Ratio(_) => counted(" times", "value-times"),
            Value::Text(text) => self.translated(text, exhibit.messages.get("value")),
            _ => None,
        };
        own.unwrap_or(english)
    }

    /// With a capital letter in front on an English page; a Chinese sentence may begin with a name.
    pub(in crate::page) fn capital(&self, text: &str) -> String {
        match self.lang {
            Lang::English => capital(text),
            Lang::SimplifiedChinese => text.to_owned(),
        }
    }

    /// The full stop of the page's language.
    pub(in crate::page) fn stop(&self) -> &'static str {
        match self.lang {
            Lang::English => ".",
            Lang::SimplifiedChinese => "。",
        }
    }
}

#[cfg(test)]
mod tests;
