//! UDP: the exchange that opens a stream, and the head of each datagram.

/// Content of the datagram that opens a stream; a server accepts any.
pub const HELLO: [u8; 4] = *b"9876";
/// Reply of a server (3.12 and newer).
pub const REPLY: [u8; 4] = *b"6789";
/// Reply of older servers, in both byte orders.
const OLD_REPLIES: [[u8; 4]; 2] = [987_654_321_u32.to_le_bytes(), 987_654_321_u32.to_be_bytes()];

/// Bytes of a head with a number of 64 bits; a datagram has at least these.
pub const HEAD: usize = 16;

/// Returns true if a datagram is a server's reply to [`HELLO`].
pub fn is_reply(bytes: &[u8]) -> bool {
    bytes == REPLY || OLD_REPLIES.iter().any(|old| bytes == old)
}

/// Header of each datagram, all big endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Send time on the sender's clock, s.
    pub seconds: u32,
    /// And µs.
    pub micros: u32,
    /// Its number; the first has 1.
    pub number: u64,
}

impl Head {
    /// The bytes of the head; only 12 of them are sent where numbers have 32 bits.
    pub fn encode(&self, wide: bool) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&self.seconds.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.micros.to_be_bytes());
        if wide {
            bytes[8..].copy_from_slice(&self.number.to_be_bytes());
        } else {
            bytes[8..12].copy_from_slice(&(self.number as u32).to_be_bytes());
        }
        bytes
    }

    /// Reads the head of a datagram; `None` if it is too short for one.
    pub fn decode(wide: bool, bytes: &[u8]) -> Option<Self> {
        let (seconds, rest) = bytes.split_first_chunk()?;
        let (micros, rest) = rest.split_first_chunk()?;
        Some(Self {
            seconds: u32::from_be_bytes(*seconds),
            micros: u32::from_be_bytes(*micros),
            number: if wide {
                u64::from_be_bytes(*rest.first_chunk()?)
            } else {
                u32::from_be_bytes(*rest.first_chunk()?).into()
            },
        })
    }

    /// Returns the send time, ns on the sender's clock.
    pub fn sent_ns(&self) -> i64 {
        i64::from(self.seconds) * 1_000_000_000 + i64::from(self.micros) * 1000
    }
}
