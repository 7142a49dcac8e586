//! Reasons for which the server refuses a request.

use std::{fmt, io, ops::RangeInclusive, time::Duration};

use model::{text, text::Text};
use traffic::{admission, wire::message::Code};

/// Payload of a datagram, bytes: at least its number and time, at most the maximum of UDP over
/// IPv4.
pub(super) const PAYLOAD: RangeInclusive<u32> = 17..=65_507;

/// Length of a response, bytes.
pub(super) const RESPONSE: RangeInclusive<u64> = 1..=1 << 30;

/// Connections or datagrams of a load, which have to arrive before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrivals {
    /// TCP connections.
    Connections,
    /// A first datagram, which proves an address.
    Datagrams,
}

impl Arrivals {
    fn text(self) -> Text {
        match self {
            Self::Connections => text!("connections"),
            Self::Datagrams => text!("datagrams"),
        }
    }
}

/// Reason why the server refuses a request. The session continues.
#[derive(Debug)]
pub(crate) enum Refused {
    /// A limit.
    Limit(admission::Refused),
    /// An order of datagrams that cannot be.
    Datagrams {
        /// Payload of one, bytes.
        payload: u32,
        /// Their rate, bit/s.
        rate_bps: u64,
    },
    /// An order of responses of an invalid length.
    Responses {
        /// Length of one, bytes.
        bytes: u64,
    },
    /// An order of more connections than one load may have.
    Flows {
        /// The limit.
        most: u32,
    },
    /// A rate above the limit.
    Rate {
        /// The limit, bit/s.
        most: u64,
    },
    /// QUIC, which this build lacks.
    WithoutQuic,
    /// A token of no agreement of this session.
    Unknown,
    /// A load that runs, or has run.
    Started,
    /// A service, which works from when it is opened.
    Service,
    /// Connections or datagrams of a load did not arrive.
    Missing {
        /// The arrivals.
        what: Arrivals,
        /// The timeout.
        timeout: Duration,
    },
    /// Evidence without a mark.
    Unmarked,
    /// The kernel does not have, or does not allow, a congestion control.
    Congestion {
        /// Its name.
        name: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// Another session has the slot.
    Slot,
    /// The host could not start a load.
    Start(io::Error),
    /// The host has no random numbers for a key or a ticket.
    Random(io::Error),
}

impl From<admission::Refused> for Refused {
    fn from(refused: admission::Refused) -> Self {
        Self::Limit(refused)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Limit(refused) => Some(refused),
            Self::Congestion { source, .. } => Some(source),
            Self::Start(source) | Self::Random(source) => Some(source),
            _ => None,
        }
    }
}

impl Refused {
    /// The reason, for people at the other end.
    pub(super) fn text(&self) -> Text {
        match self {
            Self::Limit(refused) => refused.text(),
            Self::Datagrams { payload, rate_bps } => text!(
                "datagrams of {payload} bytes at {rate} bit/s: one has {least} to {most} bytes, and a rate is not 0",
                payload = *payload,
                rate = *rate_bps,
                least = *PAYLOAD.start(),
                most = *PAYLOAD.end()
            ),
            Self::Responses { bytes } => text!(
                "answers of {bytes} bytes: one has {least} to {most} bytes",
                bytes = *bytes,
                least = *RESPONSE.start(),
                most = *RESPONSE.end()
            ),
            Self::Flows { most } => {
                text!("a load may have 1 to {most} connections here", most = *most)
            }
            Self::Rate { most } => text!("the rate may be {most} bit/s here", most = *most),
            Self::WithoutQuic => text!("this server was built without QUIC"),
            Self::Unknown => text!(
                "no load of this session has this token: it was finished before, or never opened"
            ),
            Self::Started => {
                text!("this load was started before: a load is started once, open another")
            }
            Self::Service => text!("a service needs no start: it answers as soon as it is open"),
            Self::Missing { what, timeout } => text!(
                "the {arrivals} of the load did not arrive within {timeout} s",
                arrivals = what.text(),
                timeout = timeout.as_secs()
            ),
            Self::Unmarked => text!("there was no `mark` before `evidence`"),
            Self::Congestion { name, source } => text!(
                "set congestion control {name}: {source}; `sysctl net.ipv4.tcp_allowed_congestion_control` lists those that programs may use",
                name = name,
                source = source
            ),
            Self::Slot => text!("another client that watches loads the line now: try again later"),
            Self::Start(source) => text!("start the load: {source}", source = source),
            Self::Random(source) => text!("read random numbers: {source}", source = source),
        }
    }

    /// Kind of reason, for the program at the other end.
    pub(super) fn code(&self) -> Code {
        match self {
            Self::Limit(refused) if refused.is_passing() => Code::Busy,
            Self::Slot => Code::Busy,
            Self::Limit(_) | Self::Flows { .. } | Self::Rate { .. } => Code::Limit,
            Self::Datagrams { .. } | Self::Responses { .. } => Code::Order,
            Self::WithoutQuic => Code::Unable,
            Self::Unknown | Self::Started | Self::Service | Self::Unmarked => Code::State,
            Self::Missing { .. } => Code::Missing,
            Self::Congestion { .. } | Self::Start(_) | Self::Random(_) => Code::Host,
        }
    }
}
