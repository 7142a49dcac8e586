//! Datagrams: the proof of an address, probes, and numbered data.
//!
//! No address is sent more than it sent until it is validated: the reply to a `Hello` is a
//! `Challenge` of at most the same length, whose content is needed for a valid `Prove`.

use super::Token;

/// Bytes of the greeting datagrams: all four are of this length.
pub const GREETING: usize = 40;
/// Bytes of number and time in front of data.
pub const DATA_HEADER: usize = 17;
/// Bytes of a probe's payload: 64 bytes with UDP, IPv4 and Ethernet headers.
pub const PROBE: usize = 22;

const HELLO: u8 = 0xb1;
const CHALLENGE: u8 = 0xb2;
const PROVE: u8 = 0xb3;
const PROVED: u8 = 0xb4;
const PROBE_ASK: u8 = 0xb5;
const PROBE_ANSWER: u8 = 0xb6;
const DATA: u8 = 0xb7;
const SIZED: u8 = 0xb8;
const SIZED_ASK: u8 = 0xb9;

/// A datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datagram {
    /// The near end requests its address for an agreement.
    Hello(Token),
    /// The far end's challenge: content that only the holder of the address can read.
    Challenge(Token, [u8; 16]),
    /// The near end's reply: a code over the challenge, by the ticket's secret.
    Prove(Token, [u8; 16]),
    /// The address is proved.
    Proved(Token),
    /// A latency probe.
    Probe {
        /// Its number.
        number: u32,
    },
    /// The reply to a probe.
    Answer {
        /// Number of the probe.
        number: u32,
        /// Holding time at the far end, ns; longer times count as the maximum of the range.
        held_ns: u32,
    },
    /// Numbered data.
    Data {
        /// Its number.
        number: u64,
        /// Send time by the sender's clock, ns.
        sent_ns: u64,
    },
    /// A datagram of a chosen size.
    Sized {
        /// Sequence number.
        number: u32,
        /// Payload bytes it had when it was sent.
        payload: u16,
    },
    /// Requests a reply: of `payload` bytes if `payload` is not 0, else a short one.
    SizedAsk {
        /// Sequence number.
        number: u32,
        /// Payload bytes of the reply.
        payload: u16,
    },
}

impl Datagram {
    /// Reads a datagram; `None` if it is malformed. Padding after the fields is ignored.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        let token = || rest.first_chunk().map(|t| Token(*t));
        let secret = || rest.get(16..32)?.first_chunk().copied();
        let word = |at: usize| Some(u32::from_be_bytes(*rest.get(at..)?.first_chunk()?));
        let half = |at: usize| Some(u16::from_be_bytes(*rest.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u64::from_be_bytes(*rest.get(at..)?.first_chunk()?));
        let greeting = bytes.len() == GREETING;
        Some(match kind {
            HELLO if greeting => Self::Hello(token()?),
            CHALLENGE if greeting => Self::Challenge(token()?, secret()?),
            PROVE if greeting => Self::Prove(token()?, secret()?),
            PROVED if greeting => Self::Proved(token()?),
            PROBE_ASK => Self::Probe { number: word(0)? },
            PROBE_ANSWER => Self::Answer {
                number: word(0)?,
                held_ns: word(4)?,
            },
            DATA => Self::Data {
                number: long(0)?,
                sent_ns: long(8)?,
            },
            SIZED => Self::Sized {
                number: word(0)?,
                payload: half(4)?,
            },
            SIZED_ASK => Self::SizedAsk {
                number: word(0)?,
                payload: half(4)?,
            },
            _ => return None,
        })
    }

    /// Writes the datagram to the start of `buffer`, which has the length of the payload. Fields
    /// that do not fit are left out, so that the result is not a valid datagram.
    pub fn write(&self, buffer: &mut [u8]) {
        let put = |buffer: &mut [u8], kind: u8, parts: &[&[u8]]| {
            let bytes = std::iter::once(kind).chain(parts.iter().flat_map(|p| p.iter().copied()));
            for (to, from) in buffer.iter_mut().zip(bytes) {
                *to = from;
            }
        };
        match self {
            Self::Hello(token) => put(buffer, HELLO, &[&token.0]),
            Self::Challenge(token, secret) => put(buffer, CHALLENGE, &[&token.0, secret]),
            Self::Prove(token, secret) => put(buffer, PROVE, &[&token.0, secret]),
            Self::Proved(token) => put(buffer, PROVED, &[&token.0]),
            Self::Probe { number } => put(buffer, PROBE_ASK, &[&number.to_be_bytes()]),
            Self::Answer { number, held_ns } => put(
                buffer,
                PROBE_ANSWER,
                &[&number.to_be_bytes(), &held_ns.to_be_bytes()],
            ),
            Self::Data { number, sent_ns } => put(
                buffer,
                DATA,
                &[&number.to_be_bytes(), &sent_ns.to_be_bytes()],
            ),
            Self::Sized { number, payload } => put(
                buffer,
                SIZED,
                &[&number.to_be_bytes(), &payload.to_be_bytes()],
            ),
            Self::SizedAsk { number, payload } => put(
                buffer,
                SIZED_ASK,
                &[&number.to_be_bytes(), &payload.to_be_bytes()],
            ),
        }
    }

    /// The datagram as one of the greeting's length.
    pub fn greeting(&self) -> [u8; GREETING] {
        let mut bytes = [0; GREETING];
        self.write(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn datagrams_come_back(
            token in any::<[u8; 16]>(), secret in any::<[u8; 16]>(),
            number in any::<u32>(), long in any::<u64>(), payload in any::<u16>(),
        ) {
            let token = Token(token);
            for datagram in [
                Datagram::Hello(token),
                Datagram::Challenge(token, secret),
                Datagram::Prove(token, secret),
                Datagram::Proved(token),
                Datagram::Probe { number },
                Datagram::Answer { number, held_ns: number ^ 1 },
                Datagram::Data { number: long, sent_ns: !long },
                Datagram::Sized { number, payload },
                Datagram::SizedAsk { number, payload },
            ] {
                prop_assert_eq!(Datagram::parse(&datagram.greeting()), Some(datagram));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>()) {
            let _ = Datagram::parse(&bytes);
        }
    }

    #[test]
    fn a_greeting_of_another_length_is_none() {
        let hello = Datagram::Hello(Token([1; 16])).greeting();
        assert_eq!(Datagram::parse(&hello[..GREETING - 1]), None);
    }
}
