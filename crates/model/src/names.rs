//! Enumerations stored by name in documents and options.

/// Reading and writing of an enumeration by its name. It needs `ALL`, `name()` and `Copy`;
/// `$unknown` is the error for an unknown name, and holds that name.
macro_rules! by_name {
    ($figure:ident, $unknown:ident) => {
        impl std::str::FromStr for $figure {
            type Err = $unknown;

            fn from_str(name: &str) -> Result<Self, $unknown> {
                let found = Self::ALL.into_iter().find(|figure| figure.name() == name);
                found.ok_or_else(|| $unknown(name.to_owned()))
            }
        }

        impl serde::Serialize for $figure {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $figure {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = std::borrow::Cow::<'de, str>::deserialize(from)?;
                name.parse().map_err(<D::Error as serde::de::Error>::custom)
            }
        }
    };
}

pub(crate) use by_name;
