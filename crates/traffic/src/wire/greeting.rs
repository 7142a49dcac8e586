//! The first bytes of a TCP connection, parsed before the peer is authenticated.

use super::{Token, VERSION, key::CODE};

/// Bytes of the first Noise message: an ephemeral key and the tag of an empty payload.
pub const HANDSHAKE: usize = 48;
/// Bytes in front: magic and version.
const HEAD: usize = 5;
/// Bytes of a greeting for control.
pub const CONTROL: usize = HEAD + HANDSHAKE;
/// Bytes of a greeting for data.
pub const DATA: usize = HEAD + 16 + 4 + CODE;
const MAGIC_CONTROL: &[u8; 4] = b"PTWC";
const MAGIC_DATA: &[u8; 4] = b"PTWD";

/// Purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// To control, with the first message of the handshake.
    Control([u8; HANDSHAKE]),
    /// To carry data that was agreed on.
    Data {
        /// The agreement.
        token: Token,
        /// Number of the connection within it.
        number: u32,
        /// Proof that it belongs to it.
        code: [u8; CODE],
    },
}

/// State of a connection of which the first bytes were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// A whole greeting.
    Whole(Greeting),
    /// Incomplete: this many bytes are needed in total.
    More(usize),
    /// Another version of the protocol.
    Version(u8),
    /// Not this protocol.
    Foreign,
}

/// Parses the first bytes of a connection. Never requests more than [`CONTROL`] bytes.
pub fn parse(bytes: &[u8]) -> Parsed {
    let known = bytes.len().min(4);
    let is = |magic: &[u8; 4]| bytes[..known] == magic[..known];
    let control = is(MAGIC_CONTROL);
    if !control && !is(MAGIC_DATA) {
        return Parsed::Foreign;
    }
    match bytes.get(4) {
        None => return Parsed::More(HEAD),
        Some(&VERSION) => {}
        Some(&other) => return Parsed::Version(other),
    }
    let whole = if control { CONTROL } else { DATA };
    let Some(body) = bytes.get(HEAD..whole) else {
        return Parsed::More(whole);
    };
    let greeting = if control {
        body.first_chunk().map(|first| Greeting::Control(*first))
    } else {
        body.split_first_chunk().and_then(|(token, rest)| {
            let (number, rest) = rest.split_first_chunk()?;
            Some(Greeting::Data {
                token: Token(*token),
                number: u32::from_be_bytes(*number),
                code: *rest.first_chunk()?,
            })
        })
    };
    greeting.map_or(Parsed::Foreign, Parsed::Whole)
}

impl Greeting {
    /// The bytes to send.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(CONTROL);
        match self {
            Self::Control(first) => {
                bytes.extend_from_slice(MAGIC_CONTROL);
                bytes.push(VERSION);
                bytes.extend_from_slice(first);
            }
            Self::Data {
                token,
                number,
                code,
            } => {
                bytes.extend_from_slice(MAGIC_DATA);
                bytes.push(VERSION);
                bytes.extend_from_slice(&token.0);
                bytes.extend_from_slice(&number.to_be_bytes());
                bytes.extend_from_slice(code);
            }
        }
        bytes
    }
}

/// The server's first byte on a control connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not refused: the second message of the handshake follows.
    Welcome,
    /// The key is another.
    Key,
    /// The maximum number of clients is connected.
    Busy,
    /// It uses this other version.
    Version(u8),
}

impl Refusal {
    /// The two bytes to send.
    pub fn bytes(self) -> [u8; 2] {
        match self {
            Self::Welcome => [0, VERSION],
            Self::Key => [1, VERSION],
            Self::Busy => [2, VERSION],
            Self::Version(version) => [3, version],
        }
    }

    /// Parses the two bytes; `None` if they are invalid.
    pub fn parse(bytes: [u8; 2]) -> Option<Self> {
        Some(match bytes[0] {
            0 => Self::Welcome,
            1 => Self::Key,
            2 => Self::Busy,
            3 => Self::Version(bytes[1]),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn greetings_round_trip_and_a_truncated_one_is_incomplete(
            token in any::<[u8; 16]>(), number in any::<u32>(), first in any::<[u8; 32]>(),
        ) {
            let mut handshake = [7; HANDSHAKE];
            handshake[..32].copy_from_slice(&first);
            for greeting in [
                Greeting::Data { token: Token(token), number, code: token },
                Greeting::Control(handshake),
            ] {
                let bytes = greeting.bytes();
                prop_assert_eq!(parse(&bytes), Parsed::Whole(greeting));
                for n in 0..bytes.len() {
                    let Parsed::More(wanted) = parse(&bytes[..n]) else { panic!("{n}") };
                    prop_assert!(wanted > n && wanted <= bytes.len());
                }
            }
        }

        #[test]
        fn anything_else_is_refused_without_asking_for_much(bytes in any::<Vec<u8>>()) {
            if let Parsed::More(wanted) = parse(&bytes) {
                prop_assert!(wanted <= CONTROL);
            }
        }
    }

    #[test]
    fn other_protocols_and_versions_are_distinguished() {
        assert_eq!(parse(b"GET / HTTP/1.1"), Parsed::Foreign);
        assert_eq!(parse(b"PTWC\x09"), Parsed::Version(9));
        for refusal in [
            Refusal::Welcome,
            Refusal::Key,
            Refusal::Busy,
            Refusal::Version(9),
        ] {
            assert_eq!(Refusal::parse(refusal.bytes()), Some(refusal));
        }
    }
}
