//! Texts with values, formatted only when they are rendered.
//!
//! A [`Text`] is an English template and the values for the names in its braces. `Display` renders
//! it in English; [`Text::render`] in the language of a [`Catalogue`], which is looked up by the
//! English template, as gettext has it. The [`text!`](crate::text!) macro is the only way to make
//! one from words, so that the sources hold every template a catalogue must know.

mod catalogue;
mod document;
mod macros;
mod value;

use std::{borrow::Cow, collections::BTreeMap, fmt};

pub use catalogue::Catalogue;
pub use value::Value;

/// The most values that are put into one text, those of inner texts counted. A document from
/// elsewhere may nest texts so that they would render without end; no text of this program comes
/// near it.
const MOST_VALUES: u32 = 1000;

/// A sentence, or a part of one: a template, and the values for the names in its braces.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    template: Cow<'static, str>,
    /// Empty for a text without values, which is its own template.
    values: BTreeMap<Cow<'static, str>, Value>,
}

impl Text {
    /// A text without values, from words that are a template or the same in every language. Words
    /// of this program go through [`text!`](crate::text!).
    pub fn plain(words: impl Into<Cow<'static, str>>) -> Self {
        Self {
            template: words.into(),
            values: BTreeMap::new(),
        }
    }

    /// What [`text!`](crate::text!) makes of a template alone.
    pub const fn fixed(template: &'static str) -> Self {
        Self {
            template: Cow::Borrowed(template),
            values: BTreeMap::new(),
        }
    }

    /// A name, a setting or a figure: the same in every language.
    pub fn name(name: impl Into<Value>) -> Self {
        Self::with("{name}", [("name", name.into())])
    }

    /// What [`text!`](crate::text!) makes of a template and values.
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

    /// A template of this program that is chosen where it runs, with its values.
    pub fn filled(template: &'static str, values: Vec<(&'static str, Value)>) -> Self {
        let values = values.into_iter();
        Self {
            template: Cow::Borrowed(template),
            values: values
                .map(|(name, value)| (Cow::Borrowed(name), value))
                .collect(),
        }
    }

    /// The English template: what a catalogue is asked for.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// The values by the names in the template.
    pub fn values(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (&**name, value))
    }

    /// Whether there are no words in it.
    pub fn is_empty(&self) -> bool {
        self.template.is_empty()
    }

    /// The text in the language of a catalogue; `None` if that lacks one of its templates, so that
    /// no text is half translated.
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
            // Only a document from elsewhere gets here.
            false => f.write_str(&self.template),
        }
    }
}

/// A text on its way to words.
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
            left: MOST_VALUES,
        }
    }

    /// Adds a text; false if a template is in no catalogue or asks for what is not there.
    fn text(&mut self, text: &Text) -> bool {
        let template = match self.catalogue {
            None => Some(&*text.template),
            Some(catalogue) => catalogue.get(&text.template),
        };
        let Some(mut rest) = template else {
            return false;
        };
        // Braces in a text without values are only braces.
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

    /// Adds the value of a name. One whose name has a capital letter in front begins a sentence.
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

/// A text with a capital letter in front.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
