//! Names in a history, including those of newer versions.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use crate::run::{FigureKind, Key};

/// Meaning of a name in a history; a name unknown to this version is preserved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Named<T> {
    /// A name of this version.
    Known(T),
    /// A name that a newer version wrote.
    Unknown(String),
}

/// The measurement of a series.
pub type StepName = Named<Key>;

/// The figure of a series.
pub type FigureName = Named<FigureKind>;

impl<T> Named<T> {
    /// Returns the meaning of the name, if this version knows it.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(known) => Some(known),
            Self::Unknown(_) => None,
        }
    }
}

impl<T: FromStr> From<String> for Named<T> {
    fn from(name: String) -> Self {
        match name.parse() {
            Ok(known) => Self::Known(known),
            Err(_) => Self::Unknown(name),
        }
    }
}

impl<T: FromStr> From<&str> for Named<T> {
    fn from(name: &str) -> Self {
        name.to_owned().into()
    }
}

impl<T: fmt::Display> fmt::Display for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(known) => known.fmt(f),
            Self::Unknown(name) => f.write_str(name),
        }
    }
}

impl<T: fmt::Display> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Known or not, a name is written as it was read.
        #[test]
        fn a_name_is_preserved_unchanged(
            name in "\\PC*|(tunnel|underlay)/v[46] (idle|tcp) (down|up) x[0-9]{1,3} ?[a-z]{0,8}"
        ) {
            prop_assert_eq!(StepName::from(name.as_str()).to_string(), name.clone());
            prop_assert_eq!(FigureName::from(name.as_str()).to_string(), name);
        }
    }

    #[test]
    fn what_a_newer_version_measured_is_unknown_and_not_lost() {
        let step = StepName::from("tunnel/v4 teleport down");
        assert_eq!(step.known(), None);
        assert_eq!(step.to_string(), "tunnel/v4 teleport down");
        let figure = FigureName::from("rtt_p50_us");
        assert_eq!(figure.known(), Some(&FigureKind::RttP50));
    }
}
