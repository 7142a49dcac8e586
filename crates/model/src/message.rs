//! How a text was worded, so that it can be put into other languages.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// A text made of a template and values, as a message catalogue knows it: the English template is what
/// a translation is looked up by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The English text with a name in braces in place of each value.
    pub template: String,
    /// The values by those names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Part>,
}

/// A value in a [`Message`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// The same in every language: a figure with its unit, a name, a setting.
    Text(String),
    /// Words, which have a translation of their own.
    Message(Message),
}

/// Messages by the name of the field whose text they made. A text without values in it has none: it is
/// its own template.
pub type Messages = BTreeMap<String, Message>;

impl Message {
    /// A text without values.
    pub fn plain(text: &str) -> Self {
        Self {
            template: text.to_owned(),
            values: BTreeMap::new(),
        }
    }

    /// The text in the words of a catalogue; `None` if that lacks one of its templates, or a template
    /// asks for a value that is not there.
    pub fn filled<'a>(&'a self, catalogue: &impl Fn(&'a str) -> Option<&'a str>) -> Option<String> {
        let mut rest = catalogue(&self.template)?;
        let mut text = String::new();
        while let Some((before, after)) = rest.split_once('{') {
            let (name, left) = after.split_once('}')?;
            text.push_str(before);
            match self.values.get(name)? {
                Part::Text(value) => text.push_str(value),
                Part::Message(message) => text.push_str(&message.filled(catalogue)?),
            }
            rest = left;
        }
        text.push_str(rest);
        Some(text)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Message(message) => f.write_str(
                &message
                    .filled(&Some)
                    .unwrap_or_else(|| message.template.clone()),
            ),
        }
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Part {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<u32> for Part {
    fn from(number: u32) -> Self {
        Self::Text(number.to_string())
    }
}

impl From<u64> for Part {
    fn from(number: u64) -> Self {
        Self::Text(number.to_string())
    }
}

impl From<usize> for Part {
    fn from(number: usize) -> Self {
        Self::Text(number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(template: &str, values: &[(&str, Part)]) -> Message {
        let values = values.iter().map(|(n, v)| ((*n).to_owned(), v.clone()));
        Message {
            template: template.to_owned(),
            values: values.collect(),
        }
    }

    fn german(text: &str) -> Option<&str> {
        match text {
            "{cc} gets {rate}" => Some("{rate} bekommt {cc}"),
            "nothing" => Some("nichts"),
            _ => None,
        }
    }

    #[test]
    fn a_translation_may_say_values_in_another_order() {
        let rate = Part::Message(Message::plain("nothing"));
        let said = message(
            "{cc} gets {rate}",
            &[("cc", "cubic".into()), ("rate", rate)],
        );
        assert_eq!(said.filled(&Some).as_deref(), Some("cubic gets nothing"));
        assert_eq!(
            said.filled(&german).as_deref(),
            Some("nichts bekommt cubic")
        );
    }

    #[test]
    fn a_value_is_not_a_template() {
        let said = message(
            "{cc} gets {rate}",
            &[("cc", "{rate}".into()), ("rate", "1".into())],
        );
        assert_eq!(said.filled(&Some).as_deref(), Some("{rate} gets 1"));
    }

    #[test]
    fn what_a_catalogue_lacks_is_not_half_translated() {
        let inner = Part::Message(Message::plain("little"));
        let said = message(
            "{cc} gets {rate}",
            &[("cc", "cubic".into()), ("rate", inner)],
        );
        assert_eq!(said.filled(&german), None);
        let without = message("{cc} gets {rate}", &[("cc", "cubic".into())]);
        assert_eq!(without.filled(&Some), None);
    }

    #[test]
    fn a_message_without_values_is_short_in_a_document() {
        let said = message(
            "{cc} wins",
            &[("cc", Part::Message(Message::plain("none")))],
        );
        let text = serde_json::to_string(&said).unwrap_or_default();
        assert_eq!(
            text,
            r#"{"template":"{cc} wins","values":{"cc":{"template":"none"}}}"#
        );
        assert_eq!(serde_json::from_str::<Message>(&text).ok(), Some(said));
    }
}
