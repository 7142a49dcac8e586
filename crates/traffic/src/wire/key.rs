//! The shared key, and the tokens that are handed out under it.

use std::{fmt, io, str::FromStr};

use model::{text, text::Text};
use serde::{Deserialize, Serialize};

/// Prefix of a written key, by which it is recognized.
const PREFIX: &str = "ptk1-";

/// A secret shared by both ends: any holder may measure.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

/// Error parsing a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct KeyError;

impl KeyError {
    /// The error for reports in any language.
    pub fn text(self) -> Text {
        text!(
            "not a key: expected {prefix} and {digits} hexadecimal digits, as in the key file that \
             `pathtwin serve` makes",
            prefix = PREFIX,
            digits = 2 * size_of::<Key>()
        )
    }
}

impl Key {
    /// The key of a server in open mode, publicly known, so anyone is admitted.
    pub const OPEN: Self = Self([0; 32]);

    /// A new random key.
    ///
    /// # Errors
    /// The kernel provides no random numbers.
    pub fn generate() -> io::Result<Self> {
        Ok(Self(random()?))
    }

    /// The key's bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let digits = text.trim().strip_prefix(PREFIX).ok_or(KeyError)?;
        unhex(digits).map(Self).ok_or(KeyError)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", hex(&self.0))
    }
}

/// A key is a secret: it is not to be found in logs.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Bytes of a code that authenticates a connection or an address for an agreement.
pub const CODE: usize = 16;

/// A random number that names the agreement a connection or datagram belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Token(pub [u8; 16]);

impl Token {
    /// A new random token.
    ///
    /// # Errors
    /// The kernel provides no random numbers.
    pub fn generate() -> io::Result<Self> {
        Ok(Self(random()?))
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        hex(&token.0)
    }
}

impl TryFrom<String> for Token {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        unhex(&text).map(Self).ok_or("not a token")
    }
}

/// The public half of a key that a server creates for one agreement: presented on a connection, it
/// proves the identity of that server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(pub [u8; 32]);

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        hex(&key.0)
    }
}

impl TryFrom<String> for PublicKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        unhex(&text).map(Self).ok_or("not a public key")
    }
}

/// Random bytes of the kernel.
///
/// # Errors
/// The kernel provides none.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(text.as_bytes().as_chunks().0) {
        let digit = |c: &u8| char::from(*c).to_digit(16);
        *byte = (digit(high)? << 4 | digit(low)?) as u8;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_round_trips() {
        let key = Key::generate().unwrap();
        assert_eq!(key.to_string().parse(), Ok(key.clone()));
        assert_eq!(format!(" {key}\n").parse(), Ok(key));
        assert_eq!("ptk1-00".parse::<Key>(), Err(KeyError));
        assert_eq!("".parse::<Key>(), Err(KeyError));
        assert_eq!(
            format!("ptk1-{}", "é".repeat(32)).parse::<Key>(),
            Err(KeyError)
        );
    }

    #[test]
    fn a_key_is_not_shown_by_debug() {
        assert_eq!(format!("{:?}", Key::OPEN), "Key(..)");
    }
}
