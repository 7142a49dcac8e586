//! Names of changes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Bytes of an id.
const BYTES: usize = 16;

/// The name of a Change: 128 random bits as 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChangeId(String);

impl ChangeId {
    /// An id of random bytes.
    pub fn from_random(bytes: [u8; BYTES]) -> Self {
        Self(bytes.iter().map(|b| format!("{b:02x}")).collect())
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first digits, for display.
    pub fn short(&self) -> &str {
        &self.0[..8]
    }
}

/// Error parsing an id.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not the id of a change, which is 32 hexadecimal digits")]
pub struct IdError(String);

impl FromStr for ChangeId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if text.len() == 2 * BYTES && text.bytes().all(digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(IdError(text.chars().take(64).collect()))
        }
    }
}

impl TryFrom<String> for ChangeId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<ChangeId> for String {
    fn from(id: ChangeId) -> Self {
        id.0
    }
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
