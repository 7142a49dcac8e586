//! Texts and values, which may contain each other.

use std::{borrow::Cow, collections::BTreeMap};

/// A sentence or part of one: a template, and the values for the names in its braces.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    pub(super) template: Cow<'static, str>,
    /// Empty for a text without values, which is its own template.
    pub(super) values: BTreeMap<Cow<'static, str>, Value>,
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
}

/// A value in a text, or of an item of evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Bit/s.
    Bps(f64),
    /// Microseconds.
    Us(f64),
    /// A share, 0 to 1.
    Share(f64),
    /// Bytes.
    Bytes(f64),
    /// A count.
    Count(f64),
    /// A ratio.
    Ratio(f64),
    /// Power, dBm.
    Dbm(f64),
    /// A name or setting, the same in every language.
    Name(String),
    /// A nested text with its own translation.
    Text(Text),
}
