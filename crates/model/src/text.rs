//! Texts with values, formatted only when they are rendered.
//!
//! A [`Text`] is an English template and the values for the names in its braces. `Display` renders
//! it in English, and [`Text::render`] in the language of a [`Catalogue`], keyed by the English
//! template as in gettext. Texts of this program are only made by the [`text!`](crate::text!)
//! macro, so that all templates can be extracted from the sources.

mod catalogue;
mod document;
mod macros;
mod system;
mod value;

use std::{borrow::Cow, collections::BTreeMap, fmt};

pub use catalogue::Catalogue;
pub use value::Value;

/// Maximum number of values in one text, including nested texts. It bounds the rendering of hostile
/// documents; texts of this program are far below it.
const MAX_VALUES: u32 = 1000;

/// A sentence or part of one: a template, and the values for the names in its braces.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    template: Cow<'static, str>,
    /// Empty for a text without values, which is its own template.
    values: BTreeMap<Cow<'static, str>, Value>,
}

impl Text {
    /// A text without values from a string that is a template, or the same in every language. Texts
    /// of this program use [`text!`](crate::text!).
    pub fn plain(words: impl Into<Cow<'static, str>>) -> Self {
        Self {
            template: words.into(),
            values: BTreeMap::new(),
        }
    }

    /// Used by [`text!`](crate::text!) for a template without values.
    pub const fn fixed(template: &'static str) -> Self {
        Self {
            template: Cow::Borrowed(template),
            values: BTreeMap::new(),
        }
    }

    /// A name, setting or figure that is the same in every language.
    pub fn name(name: impl Into<Value>) -> Self {
        Self::with("{name}", [("name", name.into())])
    }

    /// Used by [`text!`](crate::text!) for a template with values.
    pub fn with<const N: usize>(
        template: &'static str,
        values: [(&'static str, Value); N],
    ) -> Self {
        let values = values.map(|(name, value)| (Cow::Borrowed(name), value));
        Self {
            template: Cow::Borrowed(template),
            values: values.into(),
        }
    }

    /// A template of this program that is selected at run time, with its values.
    pub fn filled(template: &'static str, values: Vec<(&'static str, Value)>) -> Self {
        let values = values.into_iter();
        Self {
            template: Cow::Borrowed(template),
            values: values
                .map(|(name, value)| (Cow::Borrowed(name), value))
                .collect(),
        }
    }

    /// A list of texts, separated by semicolons.
    pub fn list(texts: impl IntoIterator<Item = Text>) -> Self {
        let mut all = texts.into_iter();
        let first = all.next().unwrap_or_else(|| Self::fixed(""));
        all.fold(first, |first, next| {
            crate::text!("{first}; {next}", first = first, next = next)
        })
    }

    /// The English template, the key in catalogues.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// The values by the names in the template.
    pub fn values(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (&**name, value))
    }

    /// Returns true if it is empty.
    pub fn is_empty(&self) -> bool {
        self.template.is_empty()
    }

    /// The text in the language of a catalogue; `None` if any of its templates is missing there, so
    /// that no text is translated partially.
    pub fn render(&self, catalogue: &Catalogue) -> Option<String> {
        let mut out = Rendering::new(Some(catalogue));
        out.text(self).then_some(out.text)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Rendering::new(None);
        match out.text(self) {
            true => f.write_str(&out.text),
            // Only reached with documents of other programs.
            false => f.write_str(&self.template),
        }
    }
}

/// State of rendering a text.
struct Rendering<'a> {
    catalogue: Option<&'a Catalogue>,
    text: String,
    left: u32,
}

impl<'a> Rendering<'a> {
    fn new(catalogue: Option<&'a Catalogue>) -> Self {
        Self {
            catalogue,
            text: String::new(),
            left: MAX_VALUES,
        }
    }

    /// Adds a text; false if a template or a value is missing.
    fn text(&mut self, text: &Text) -> bool {
        let template = match self.catalogue {
            None => Some(&*text.template),
            Some(catalogue) => catalogue.get(&text.template),
        };
        let Some(mut rest) = template else {
            return false;
        };
        // Braces in a text without values are literal.
        while let Some((before, after)) = rest.split_once('{').filter(|_| !text.values.is_empty()) {
            let Some((name, left)) = after.split_once('}') else {
                return false;
            };
            self.text.push_str(before);
            if !self.value(name, text) {
                return false;
            }
            rest = left;
        }
        self.text.push_str(rest);
        true
    }

    /// Adds the value of a name. A capitalised name begins a sentence.
    fn value(&mut self, name: &str, text: &Text) -> bool {
        let Some(value) = text.values.get(name) else {
            return false;
        };
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        let start = self.text.len();
        let done = match value {
            Value::Text(text) => self.text(text),
            value => {
                self.text.push_str(&value.words(self.catalogue));
                true
            }
        };
        let capitals = self.catalogue.is_none_or(Catalogue::has_capitals);
        if capitals && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            let capital = capital(&self.text[start..]);
            self.text.replace_range(start.., &capital);
        }
        done
    }
}

/// A text with its first letter capitalised.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
