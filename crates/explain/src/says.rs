//! What a rule says, in English and in a form that can be translated.
//!
//! Every text is made by `say!`, whose first argument is the template that message catalogues know.
//! There is no other way to make one from words, so that the sources hold all templates: see the test of
//! the catalogues in `report`.

use std::{borrow::Cow, fmt};

use model::{
    message::{Message, Messages, Part},
    net::Side,
};

/// A text, and how it was worded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Says {
    text: Cow<'static, str>,
    /// Absent if the text is its own template.
    message: Option<Box<Message>>,
}

/// A text from a template and the values for the names in its braces. A value is text that is the same
/// in every language, or again [`Says`].
macro_rules! say {
    ($template:literal $(,)?) => {
        $crate::says::Says::plain($template)
    };
    ($template:literal, $($name:ident = $value:expr),+ $(,)?) => {{
        let [$($name),+] = [$(model::message::Part::from($value)),+];
        // `concat!` keeps names that are not among the values from being looked for around this.
        let text = format!(concat!($template), $($name = $name),+);
        $crate::says::Says::made($template, text, [$((stringify!($name), $name)),+])
    }};
}
pub(crate) use say;

impl Says {
    /// A text without values: what `say!` makes of a template alone.
    pub(crate) const fn plain(text: &'static str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            message: None,
        }
    }

    /// What `say!` makes of a template and values.
    pub(crate) fn made<const N: usize>(
        template: &'static str,
        text: String,
        values: [(&'static str, Part); N],
    ) -> Self {
        let values = values.map(|(name, value)| (name.to_owned(), value));
        Self {
            text: Cow::Owned(text),
            message: Some(Box::new(Message {
                template: template.to_owned(),
                values: values.into(),
            })),
        }
    }

    /// A name or a figure: the same in every language.
    pub(crate) fn name(name: impl Into<Part>) -> Self {
        say!("{name}", name = name.into())
    }

    /// A text that repeats others, which a reader in another language takes from there.
    pub(crate) fn repeated(text: String) -> Self {
        Self {
            text: Cow::Owned(text),
            message: None,
        }
    }

    /// The text for a field of a document, with its wording among the others of that item.
    pub(crate) fn put(self, field: &str, messages: &mut Messages) -> String {
        if let Some(message) = self.message {
            messages.insert(field.to_owned(), *message);
        }
        self.text.into_owned()
    }
}

impl fmt::Display for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Says> for Part {
    fn from(says: Says) -> Self {
        Self::Message(match says.message {
            Some(message) => *message,
            None => Message::plain(&says.text),
        })
    }
}

/// An end, in sentences.
pub(crate) fn end(side: Side) -> Says {
    match side {
        Side::Near => say!("near host"),
        Side::Far => say!("far host"),
    }
}
