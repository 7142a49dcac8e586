//! Translations keyed by the English templates.

use std::collections::BTreeMap;

/// The translations of one language.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    translations: BTreeMap<String, String>,
    capitals: bool,
}

impl Catalogue {
    /// A catalogue of a language with or without capital letters.
    pub fn new(translations: BTreeMap<String, String>, capitals: bool) -> Self {
        Self {
            translations,
            capitals,
        }
    }

    /// The translation of a template.
    pub fn get(&self, template: &str) -> Option<&str> {
        // A template that is only a value needs no translation.
        if template == "{name}" {
            return Some("{name}");
        }
        self.translations.get(template).map(String::as_str)
    }

    /// All templates, with their translations.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.translations.iter();
        all.map(|(english, own)| (english.as_str(), own.as_str()))
    }

    /// Returns true if the language has capital letters.
    pub fn has_capitals(&self) -> bool {
        self.capitals
    }
}
