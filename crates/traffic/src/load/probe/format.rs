//! Wire format of probes.

use sys::socket::icmp::{Echo, HEADER};

use crate::wire::datagram::{Datagram, PROBE};

/// Maximum bytes of a reply: on a raw socket it starts with an IPv4 header with options.
pub(super) const ANSWER: usize = 60 + HEADER + PROBE;

/// The format of probes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Format {
    /// Datagrams of pathtwin's protocol.
    #[default]
    Own,
    /// ICMP echo, with such a datagram as its data.
    Icmp(Echo),
}

impl Format {
    /// Writes a probe into `buffer`; its bytes.
    pub(super) fn write(self, number: u32, buffer: &mut [u8; HEADER + PROBE]) -> &[u8] {
        let mut probe = [0; PROBE];
        Datagram::Probe { number }.write(&mut probe);
        match self {
            Self::Own => {
                buffer[..PROBE].copy_from_slice(&probe);
                &buffer[..PROBE]
            }
            Self::Icmp(echo) => {
                echo.request(number as u16, &probe, buffer);
                buffer
            }
        }
    }

    /// Number of the answered probe, and its holding time at the far end, ns.
    pub(super) fn read(self, bytes: &[u8]) -> Option<(u32, u32)> {
        match self {
            Self::Own => match Datagram::parse(bytes)? {
                Datagram::Answer { number, held_ns } => Some((number, held_ns)),
                // Returned as it was (`echo::reflect`).
                Datagram::Probe { number } => Some((number, 0)),
                _ => None,
            },
            Self::Icmp(echo) => match Datagram::parse(echo.reply(bytes)?)? {
                Datagram::Probe { number } => Some((number, 0)),
                _ => None,
            },
        }
    }
}
