//! Address prefixes: `10.0.0.0/8`, `2001:db8::/32`, or one address.

use std::{fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::text::Value;

/// An address prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// The prefix of `length` bits of `address`; `None` if it has fewer bits.
    pub fn new(address: IpAddr, length: u8) -> Option<Self> {
        (length <= bits(address).1).then_some(Self { address, length })
    }

    /// The prefix of one address.
    pub fn host(address: IpAddr) -> Self {
        Self {
            address,
            length: bits(address).1,
        }
    }

    /// The same prefix with zeros beyond its length.
    #[must_use]
    pub fn network(self) -> Self {
        let (own, width) = bits(self.address);
        let kept = own
            .checked_shr(u32::from(width - self.length))
            .and_then(|high| high.checked_shl(u32::from(width - self.length)))
            .unwrap_or(0);
        let address = match self.address {
            IpAddr::V4(_) => IpAddr::V4((kept as u32).into()),
            IpAddr::V6(_) => IpAddr::V6(kept.into()),
        };
        Self { address, ..self }
    }

    /// Its address, with all bits as given.
    pub fn address(self) -> IpAddr {
        self.address
    }

    /// Its length, bits.
    pub fn length(self) -> u8 {
        self.length
    }

    /// Returns true if it contains an address. An IPv4 prefix never contains an IPv6 address, nor
    /// the reverse.
    pub fn contains(self, address: IpAddr) -> bool {
        let ((own, width), (other, other_width)) = (bits(self.address), bits(address));
        let differing = own ^ other;
        // A shift by the full width would overflow; a prefix of length 0 contains everything.
        width == other_width
            && differing
                .checked_shr(u32::from(width - self.length))
                .unwrap_or(0)
                == 0
    }
}

/// An address as an integer, and its width in bits.
fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(a) => (u128::from(a.to_bits()), 32),
        IpAddr::V6(a) => (a.to_bits(), 128),
    }
}

/// A prefix is the same in every language.
impl From<Prefix> for Value {
    fn from(prefix: Prefix) -> Self {
        Self::Name(prefix.to_string())
    }
}

/// Error parsing a prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// Not an address, with or without a length.
    #[error("\"{0}\" is not an address or prefix; write 10.0.0.0/8 or 2001:db8::1")]
    NotAPrefix(String),
    /// The length is more than the bits of the address.
    #[error("\"{text}\": the prefix of such an address is at most /{bits}")]
    TooLong {
        /// The text given.
        text: String,
        /// Bits of the address.
        bits: u8,
    },
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let wrong = || PrefixError::NotAPrefix(text.to_owned());
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let length = match length {
            Some(length) => length.parse().map_err(|_| wrong())?,
            None => bits(address).1,
        };
        Self::new(address, length).ok_or_else(|| PrefixError::TooLong {
            text: text.to_owned(),
            bits: bits(address).1,
        })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl TryFrom<String> for Prefix {
    type Error = PrefixError;

    fn try_from(text: String) -> Result<Self, PrefixError> {
        text.parse()
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> String {
        prefix.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(prefix: &str, address: &str) -> bool {
        let prefix: Prefix = prefix.parse().unwrap();
        prefix.contains(address.parse().unwrap())
    }

    #[test]
    fn the_first_bits_decide() {
        assert!(within("10.0.0.0/8", "10.255.0.1"));
        assert!(!within("10.0.0.0/8", "11.0.0.1"));
        assert!(within("192.0.2.129/25", "192.0.2.255"));
        assert!(!within("192.0.2.129/25", "192.0.2.127"));
        assert!(within("2001:db8::/33", "2001:db8:7fff::1"));
        assert!(!within("2001:db8::/33", "2001:db8:8000::1"));
    }

    #[test]
    fn a_prefix_of_no_bits_is_all_of_its_family() {
        assert!(within("0.0.0.0/0", "255.255.255.255"));
        assert!(within("::/0", "ffff::1"));
        assert!(!within("0.0.0.0/0", "::1"));
        assert!(!within("::/0", "127.0.0.1"));
    }

    #[test]
    fn an_address_alone_is_itself() {
        assert!(within("192.0.2.1", "192.0.2.1"));
        assert!(!within("192.0.2.1", "192.0.2.0"));
        assert!(within("::1", "::1"));
    }

    #[test]
    fn invalid_texts_are_refused() {
        for text in [
            "",
            "/",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/-1",
            "10.0.0/8",
            "host/8",
        ] {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
        assert_eq!(
            "10.1.0.0/16".parse::<Prefix>().unwrap().to_string(),
            "10.1.0.0/16"
        );
    }
}
