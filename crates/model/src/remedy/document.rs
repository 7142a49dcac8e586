//! Serialization of remedies: the action and, for readers, its kind, sentence and commands, which
//! are ignored when it is read.

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeStruct};

use super::{Action, Dialect, Location, Remedy, RemedyClass, commands};
use crate::text::Text;

impl Serialize for Remedy {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_struct("Remedy", 6)?;
        object.serialize_field("class", &self.class())?;
        object.serialize_field("what", &self.sentence())?;
        object.serialize_field("on", &self.on)?;
        object.serialize_field("why_there", &self.why_there)?;
        object.serialize_field("action", &self.action)?;
        object.serialize_field("commands", &commands(self, Dialect::Linux))?;
        object.end()
    }
}

/// A remedy in a document; those of schema 1 have no action.
#[derive(Deserialize)]
struct Read {
    #[serde(default)]
    action: Option<Action>,
    #[serde(default)]
    on: Option<Location>,
    why_there: Text,
    class: RemedyClass,
    what: Text,
}

impl<'de> Deserialize<'de> for Remedy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let read = Read::deserialize(from)?;
        let (class, what) = (read.class, read.what);
        Ok(Self {
            action: read.action.unwrap_or(Action::FreeText { class, what }),
            on: read.on.unwrap_or(Location::Elsewhere),
            why_there: read.why_there,
        })
    }
}
