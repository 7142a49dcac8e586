//! Serialization of texts and values.
//!
//! A text without values is a plain string. One with values is an object with `text`, the English
//! sentence, which is ignored when reading, and `template` and `values`. A plain string, as in
//! documents of schema 1, is read as a text without values.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    ser::{SerializeMap, SerializeStruct},
};

use super::template::{Text, Value};

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.values.is_empty() {
            return to.serialize_str(&self.template);
        }
        let mut object = to.serialize_struct("Text", 3)?;
        object.serialize_field("text", &self.to_string())?;
        object.serialize_field("template", &self.template)?;
        object.serialize_field("values", &Values(self))?;
        object.end()
    }
}

/// Serializes the values of a text: names as plain strings, texts always as objects.
struct Values<'a>(&'a Text);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.values.len()))?;
        for (name, value) in &self.0.values {
            match value {
                Value::Name(text) => map.serialize_entry(name, text)?,
                Value::Text(text) => map.serialize_entry(name, &Inner(text))?,
                figure => map.serialize_entry(name, figure)?,
            }
        }
        map.end()
    }
}

/// A nested text, serialized without its English sentence.
struct Inner<'a>(&'a Text);

impl Serialize for Inner<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("template", &self.0.template)?;
        if !self.0.values.is_empty() {
            object.serialize_entry("values", &Values(self.0))?;
        }
        object.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_struct("Value", 2)?;
        let unit = match self {
            Self::Bps(_) => "bps",
            Self::Us(_) => "us",
            Self::Share(_) => "share",
            Self::Bytes(_) => "bytes",
            Self::Count(_) => "count",
            Self::Ratio(_) => "ratio",
            Self::Dbm(_) => "dbm",
            Self::Name(_) | Self::Text(_) => "text",
        };
        object.serialize_field("unit", unit)?;
        match self {
            Self::Bps(v)
            | Self::Us(v)
            | Self::Share(v)
            | Self::Bytes(v)
            | Self::Count(v)
            | Self::Ratio(v)
            | Self::Dbm(v) => object.serialize_field("value", v)?,
            Self::Name(name) => object.serialize_field("value", name)?,
            // As a plain string it would be read as a name.
            Self::Text(text) if text.values.is_empty() => {
                object.serialize_field("value", &Inner(text))?;
            }
            Self::Text(text) => object.serialize_field("value", text)?,
        }
        object.end()
    }
}

/// A text in a document.
#[derive(Deserialize)]
#[serde(untagged)]
enum Read {
    Plain(String),
    Worded {
        template: String,
        #[serde(default)]
        values: BTreeMap<String, Value>,
    },
}

impl From<Read> for Text {
    fn from(read: Read) -> Self {
        match read {
            Read::Plain(text) => Self::plain(text),
            Read::Worded { template, values } => Self {
                template: Cow::Owned(template),
                values: values
                    .into_iter()
                    .map(|(name, value)| (Cow::Owned(name), value))
                    .collect(),
            },
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Read::deserialize(from).map(Self::from)
    }
}

/// A value in a document: with its unit, or as a bare name or text.
#[derive(Deserialize)]
#[serde(untagged)]
enum ReadValue {
    Name(String),
    Figure(Figure),
    Text(Text),
}

#[derive(Deserialize)]
#[serde(tag = "unit", content = "value", rename_all = "snake_case")]
enum Figure {
    Bps(Option<f64>),
    Us(Option<f64>),
    Share(Option<f64>),
    Bytes(Option<f64>),
    Count(Option<f64>),
    Ratio(Option<f64>),
    Dbm(Option<f64>),
    Text(Words),
}

/// A value with the unit `text`: a plain string is a name, an object is a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Name(String),
    Text(Text),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // JSON cannot represent NaN; it is written as null.
        let number = |v: Option<f64>| v.unwrap_or(f64::NAN);
        Ok(match ReadValue::deserialize(from)? {
            ReadValue::Name(name) => Self::Name(name),
            ReadValue::Text(text) => Self::Text(text),
            ReadValue::Figure(figure) => match figure {
                Figure::Bps(v) => Self::Bps(number(v)),
                Figure::Us(v) => Self::Us(number(v)),
                Figure::Share(v) => Self::Share(number(v)),
                Figure::Bytes(v) => Self::Bytes(number(v)),
                Figure::Count(v) => Self::Count(number(v)),
                Figure::Ratio(v) => Self::Ratio(number(v)),
                Figure::Dbm(v) => Self::Dbm(number(v)),
                Figure::Text(Words::Name(name)) => Self::Name(name),
                Figure::Text(Words::Text(text)) => Self::Text(text),
            },
        })
    }
}
